import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programEntry } from '../labels/service-entry.ts';

/** What a command has said, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandProcessOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** What it is given to read. */
  readonly input?: string | Buffer;
}

/** Runs `express-idempotent` in a process of its own, in `folder`. */
export async function runCommand(
  folder: string,
  args: readonly string[],
  { env = {}, input = '' }: CommandProcessOptions = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [programEntry('operator/main.ts'), ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], NODE_NO_WARNINGS: '1', ...env },
  });
  const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout.on('data', (chunk: Buffer) => said.stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.stderr.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString();
  return { code, stdout: text(said.stdout), stderr: text(said.stderr) };
}

/** The values of output that is JSON, one a line. */
export function jsonLines({ stdout }: Ended): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

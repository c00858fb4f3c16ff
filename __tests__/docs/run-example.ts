import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fence } from './fences.ts';

export interface Example {
  readonly program: Fence;
  /** The `text` and `sh` fences that follow it. */
  readonly after: readonly Fence[];
}

/** What was printed by each part, and what the document says, in the same order. */
export interface Outcome {
  readonly printed: string[];
  readonly expected: string[];
}

const HOOK = join(__dirname, 'resolve-to-sources.mjs');
/** Where commands find `npx`, which runs the command of the sources. */
const COMMANDS = join(__dirname, 'commands');
const DEADLINE_MS = 60_000;

/**
 * Runs a program in an empty folder. A `text` fence is what the part before it prints. With `sh`
 * fences it is a server: they are run against it, and then it is told to stop. 3000 in the document
 * stands for a port that is free here.
 */
export async function runExample(file: string, { program, after }: Example): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'example-'));
  const port = await freePort();
  const withPort = (text: string) => text.replaceAll(/\b3000\b/g, String(port));
  writeFileSync(file, withPort(readFileSync(file, 'utf8')));
  const server = start(process.execPath, ['--import', HOOK, file], folder);
  try {
    const commands = after.filter(({ language }) => language === 'sh');
    const outputs = new Map<Fence, Promise<string>>([[program, server.output]]);
    if (commands.length > 0) await Promise.race([listening(port, server.child), server.output]);
    for (const command of commands) {
      const shell = start('bash', ['-e', '-c', withPort(command.code)], folder);
      outputs.set(command, shell.output);
      await shell.output;
    }
    if (commands.length > 0) server.child.kill('SIGTERM');
    await server.output;
    return await compare([program, ...after], outputs, withPort);
  } finally {
    server.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Only what the document shows is compared; a part that shows no output may print anything. */
async function compare(
  parts: readonly Fence[],
  outputs: ReadonlyMap<Fence, Promise<string>>,
  withPort: (text: string) => string,
): Promise<Outcome> {
  const outcome: Outcome = { printed: [], expected: [] };
  for (const [index, part] of parts.entries()) {
    const output = outputs.get(parts[index - 1] ?? part);
    if (part.language !== 'text' || output === undefined) continue;
    outcome.printed.push(timeless((await output).trim()));
    outcome.expected.push(timeless(withPort(part.code).trim()));
  }
  return outcome;
}

/** The time of day and the ages of things are other ones each time, and so are their widths. */
function timeless(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b\d+ (?:s|min|h|d)\b/g, '<age>')
    .replaceAll(/ {2,}/g, '  ');
}

/** Its output when it has ended well; a rejection with all that it said when it has not. */
function start(command: string, args: string[], cwd: string) {
  const PATH = `${COMMANDS}${delimiter}${process.env['PATH']}`;
  const env = { ...process.env, PATH, EXAMPLES_NODE: process.execPath };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  const output = once(child, 'close').then(([code, signal]) => {
    clearTimeout(timer);
    if (code === 0 || signal === 'SIGTERM') return out;
    throw new Error(`${args.at(-1)} ended with ${code ?? signal}:\n${out}${err}`);
  });
  output.catch(() => {});
  return { child, output };
}

async function listening(port: number, server: ChildProcess): Promise<void> {
  while (server.exitCode === null && server.signalCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await delay(50);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

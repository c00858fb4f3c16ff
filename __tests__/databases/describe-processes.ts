import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ClaimTask } from './claimants.ts';

/** An empty store, and the program that opens it in a process of its own. */
interface ProcessSuite {
  readonly program: string;
  start(): Promise<{ readonly place: string; stop(): Promise<void> }>;
}

/** What processes that share nothing but the server make of one key. */
export function describeProcesses({ program, start }: ProcessSuite): void {
  test('of 32 parallel claims of each of 60 keys, over 2 processes, one is new', async () => {
    const { place, stop } = await start();
    const names = ['one', 'two'];
    const claimants = await Promise.all(
      names.map((name) => startClaimant(program, { place, name, keys: 60, parallel: 16 })),
    );
    const answers = (await Promise.all(claimants.map(({ answers }) => answers()))).flat();
    expect(answers).toHaveLength(60 * 32);
    const news = answers.filter((answer) => answer.endsWith(' new'));
    expect(new Set(news).size).toBe(60);
    expect(news).toHaveLength(60);
    expect(answers.filter((answer) => answer.endsWith(' pending'))).toHaveLength(60 * 31);
    await stop();
  });
}

/** A process of its own that is ready to claim. */
async function startClaimant(program: string, task: ClaimTask) {
  const hook = join(__dirname, '../contract/typescript-hook.cjs');
  const args = ['-r', hook, '-e', `require(${JSON.stringify(program)})`, JSON.stringify(task)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  const answers = async (): Promise<string[]> => {
    child.stdin.write('go\n');
    const { value } = await lines.next();
    await ended;
    return JSON.parse(value ?? '[]');
  };
  return { answers };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import type { WorkerTask } from './worker.ts';

/** A process of its own that is ready to claim. */
async function startWorker(task: WorkerTask) {
  const hook = join(__dirname, '../../contract/typescript-hook.cjs');
  const worker = JSON.stringify(join(__dirname, 'worker.ts'));
  const args = ['-r', hook, '-e', `require(${worker})`, JSON.stringify(task)];
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

test('of 32 parallel claims of each of 60 keys, over 2 processes, one is new', async () => {
  const server = await MariaDbServer.start();
  const store = new MySqlStore({ client: server.pool() });
  await store.migrate();
  const task = { url: server.url, keys: 60, parallel: 16 };
  const workers = await Promise.all(['one', 'two'].map((name) => startWorker({ ...task, name })));
  const answers = (await Promise.all(workers.map((worker) => worker.answers()))).flat();
  expect(answers).toHaveLength(60 * 32);
  const news = answers.filter((answer) => answer.endsWith(' new'));
  expect(new Set(news).size).toBe(60);
  expect(news).toHaveLength(60);
  expect(answers.filter((answer) => answer.endsWith(' pending'))).toHaveLength(60 * 31);
  await server.stop();
});

import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { callsOf } from './calls.ts';

/** What one of several processes is to do; given as JSON in the last argument. */
export interface WorkerTask {
  readonly name: string;
  readonly port: number;
  readonly keys: number;
  /** How many claims of each key are made at once. */
  readonly parallel: number;
}

/** Says `ready`, waits for a line, claims, and says how each claim was answered, as JSON. */
async function work({ name, port, keys, parallel }: WorkerTask): Promise<void> {
  const client = new Redis(port, '127.0.0.1');
  const { claim } = callsOf(new RedisStore({ client }));
  await claim(name, { key: `warm ${name}` });
  console.log('ready');
  await new Promise((resolve) => createInterface({ input: process.stdin }).once('line', resolve));
  const claims = Array.from({ length: keys * parallel }, async (_, n) => {
    const key = `key ${n % keys}`;
    const { kind } = await claim(`${name} ${n}`, { key, timeoutMs: 60_000 });
    return `${key} ${kind}`;
  });
  console.log(JSON.stringify(await Promise.all(claims)));
  client.disconnect();
  process.stdin.destroy();
}

void work(JSON.parse(process.argv.at(-1) ?? ''));

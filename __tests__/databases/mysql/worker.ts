import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import mysql from 'mysql2/promise';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { callsOf } from '../postgres/calls.ts';

/** What a process of its own is to claim. It says when it is ready, and waits for a line. */
export interface WorkerTask {
  readonly url: string;
  readonly name: string;
  readonly keys: number;
  readonly parallel: number;
}

/** Claims all keys at once, each several times, and says what it was answered. */
async function claimAll({ url, name, keys, parallel }: WorkerTask): Promise<void> {
  const pool = mysql.createPool(url);
  const { claim } = callsOf(new MySqlStore({ client: pool }));
  await pool.query('select 1');
  writeSync(1, 'ready\n');
  await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
  const claims = Array.from({ length: keys * parallel }, async (_, n) => {
    const { kind } = await claim(`${name}/${n}`, 30_000, `key ${n % keys}`);
    return `${n % keys} ${kind}`;
  });
  writeSync(1, `${JSON.stringify(await Promise.all(claims))}\n`);
  await pool.end();
}

claimAll(JSON.parse(process.argv.at(-1) ?? '')).then(
  () => process.exit(0),
  (error: unknown) => {
    writeSync(2, `${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  },
);

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { SqliteStore } from '../../../src/stores/sqlite/index.ts';
import { anyResponse, Scene } from '../../../src/testing/contract-scene.ts';
import { sqliteDriver } from './driver.ts';

/** What a process of its own is to do with a file. It says when it is ready, and waits for `go`. */
export interface WorkerTask {
  readonly driver: string;
  readonly path: string;
  readonly name: string;
  readonly task: 'open' | 'claim' | 'write' | 'lock';
  /** Of `claim`: how many keys, and how many claims of each at once. */
  readonly keys?: number;
  readonly parallel?: number;
}

const said: WorkerTask = JSON.parse(process.argv.at(-1) ?? '');
const driver = sqliteDriver(said.driver);
if (driver === undefined) throw new Error(`${said.driver} is not here.`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const handle = driver.open(said.path);

const TASKS: { readonly [task in WorkerTask['task']]: () => Promise<void> } = {
  /** Makes the tables, with others that do the same. */
  async open() {
    await ready();
    await new SqliteStore(handle).migrate();
    say('migrated');
  },

  /** Claims all keys at once, each several times, and says what it was answered. */
  async claim() {
    const { name, keys = 1, parallel = 1 } = said;
    const scene = new Scene(new SqliteStore(handle));
    await ready();
    const claims = Array.from({ length: keys * parallel }, async (_, n) => {
      const claim = await scene.claim(`${name}/${n}`, { key: `key ${n % keys}` });
      return `${n % keys} ${claim.kind}`;
    });
    say(JSON.stringify(await Promise.all(claims)));
  },

  /** Claims and completes until it is killed, and says what it was acknowledged, at once. */
  async write() {
    const scene = new Scene(new SqliteStore(handle));
    await ready();
    const run = async (lane: number) => {
      for (let n = 0; ; n += 1) {
        const key = `${said.name}/${lane}/${n}`;
        await scene.expectNew('A', { key });
        say(`claimed ${key}`);
        if (n % 3 === 2) continue;
        await scene.complete('A', anyResponse(`of ${key}`), { key });
        say(`completed ${key}`);
      }
    };
    await Promise.all([run(0), run(1), run(2), run(3)]);
  },

  /** Holds the write lock until it is told to end. */
  async lock() {
    handle.exec('BEGIN IMMEDIATE');
    await ready();
    handle.exec('ROLLBACK');
    say('unlocked');
  },
};

TASKS[said.task]().then(
  () => process.exit(0),
  (error: unknown) => {
    writeSync(2, `${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  },
);

async function ready(): Promise<void> {
  say('ready');
  await lines.next();
}

/** In the pipe before the next statement: what was said outlives a kill. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

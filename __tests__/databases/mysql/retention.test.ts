import { setTimeout as delay } from 'node:timers/promises';
import type { RowDataPacket } from 'mysql2/promise';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { SettableClock } from '../../../src/testing/index.ts';
import { callsOf } from '../postgres/calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

/** An empty table and as many replicas as asked for. */
async function setup(options: object = {}, replicas = 1) {
  const pool = server.pool();
  await pool.query('drop table if exists idempotency_records, idempotency_records_migrations');
  const clock = new SettableClock();
  const all = { now: clock.now, ...options };
  const newStore = () => new MySqlStore({ client: server.pool(), ...all });
  const stores = Array.from({ length: replicas }, newStore);
  const [store = newStore()] = stores;
  await store.migrate();
  const finish = async (count: number) => {
    const { claim, complete } = callsOf(store);
    const keys = Array.from({ length: count }, (_, n) => `key ${n}`);
    await Promise.all(keys.map((key) => claim('A', undefined, key)));
    await Promise.all(keys.map((key) => complete('A', undefined, key)));
  };
  return { pool, clock, store, stores, finish, ...callsOf(store) };
}

const DAY_MS = 24 * 3_600_000;

test('retention goes by the clock of the server: that of the process has no say', async () => {
  const options = { now: undefined, resultRetentionMs: 300, tombstoneRetentionMs: 300 };
  const { claim, complete } = await setup(options);
  const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
  await claim('A');
  await complete('A');
  expect((await claim('B')).kind).toBe('replay');
  await delay(350);
  expect((await claim('B')).kind).toBe('expired');
  await delay(350);
  expect((await claim('B')).kind).toBe('new');
  clock.mockRestore();
});

test('replicas that prune at once share the work, and each record is counted once', async () => {
  const { pool, clock, stores, finish, claim } = await setup({}, 4);
  await finish(200);
  await claim('A', undefined, 'pending');
  clock.advance(DAY_MS);
  const pruneAll = async () => {
    const pruned = stores.map(async (store) => {
      let total = 0;
      for (let n = 1; n > 0; total += n) n = await store.prune({ limit: 30 });
      return total;
    });
    return (await Promise.all(pruned)).reduce((sum, each) => sum + each, 0);
  };
  expect(await pruneAll()).toBe(200);
  const [bodies] = await pool.query(`select 1 from idempotency_records
    where tombstone = 1 and coalesce(response_head, response_body) is not null`);
  expect(bodies).toEqual([]);
  clock.advance(30 * DAY_MS);
  expect(await pruneAll()).toBe(200);
  const [rows] = await pool.query('select idempotency_key, state from idempotency_records');
  expect(rows).toEqual([{ idempotency_key: Buffer.from('k'), state: 0 }]);
});

test('a record that somebody has locked is left to the next round', async () => {
  const { pool, clock, store, finish } = await setup();
  await finish(3);
  clock.advance(DAY_MS);
  const other = await pool.getConnection();
  await other.query('begin');
  const id = recordKeyDigest('key 1');
  await other.query('select 1 from idempotency_records where id = ? for update', [id]);
  expect(await store.prune()).toBe(2);
  await other.query('rollback');
  other.release();
  expect(await store.prune()).toBe(1);
});

test('pruning in the background goes on until it is disposed of', async () => {
  const { pool, clock, store, finish } = await setup();
  const pruning = store.startPruning({ everyMs: 50, batchSize: 2 });
  await finish(5);
  clock.advance(DAY_MS);
  const left = async () => {
    const text = 'select 1 from idempotency_records where tombstone = 0';
    return (await pool.query<RowDataPacket[]>(text))[0].length;
  };
  while ((await left()) !== 0) await delay(50);
  await pruning[Symbol.asyncDispose]();
  clock.advance(30 * DAY_MS);
  await delay(300);
  expect((await pool.query('select 1 from idempotency_records'))[0]).toHaveLength(5);
});

test('nothing is pruned before its time', async () => {
  const { pool, clock, store, finish } = await setup();
  await finish(50);
  clock.advance(DAY_MS - 1);
  expect(await store.prune()).toBe(0);
  expect((await pool.query('select 1 from idempotency_records'))[0]).toHaveLength(50);
});

test('pruning waits for no owner, and no owner for pruning', async () => {
  const { pool, clock, store, finish, claim, complete } = await setup();
  await claim('A', undefined, 'pending');
  await finish(20);
  clock.advance(DAY_MS);
  const business = await pool.getConnection();
  await business.query('begin');
  const id = recordKeyDigest('pending');
  await business.query('select 1 from idempotency_records where id = ? for update', [id]);
  expect(await store.prune()).toBe(20);
  await business.query('rollback');
  business.release();
  await complete('A', undefined, 'pending');
  expect((await claim('B', undefined, 'pending')).kind).toBe('replay');
});

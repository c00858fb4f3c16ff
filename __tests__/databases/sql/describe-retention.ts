import { setTimeout as delay } from 'node:timers/promises';
import { SettableClock } from '../../../src/testing/index.ts';
import { callsOf } from '../calls.ts';
import { empty, NOTHING, type SqlDatabase, type StoreSettings } from './sql-database.ts';

const DAY_MS = 24 * 3_600_000;

/** An empty table and as many replicas as asked for. */
async function setup(database: SqlDatabase, options: StoreSettings = {}, replicas = 1) {
  await empty(database);
  const clock = new SettableClock();
  const newStore = () => database.newStore({ now: clock.now, ...options });
  const [store, ...others] = [newStore(), ...Array.from({ length: replicas - 1 }, newStore)];
  await store.migrate();
  /** As many completed records, by their keys. */
  const finish = async (count: number) => {
    const { claim, complete } = callsOf(store);
    const keys = Array.from({ length: count }, (_, n) => `key ${n}`);
    await Promise.all(keys.map((key) => claim('A', undefined, key)));
    await Promise.all(keys.map((key) => complete('A', undefined, key)));
    return keys;
  };
  return { clock, store, stores: [store, ...others], finish, ...callsOf(store) };
}

/** What is kept, and for how long. */
export function describeRetention(database: () => SqlDatabase): void {
  test('retention goes by the clock of the server: that of the process has no say', async () => {
    const retention = { resultRetentionMs: 300, tombstoneRetentionMs: 300 };
    await empty(database());
    const store = database().newStore(retention);
    await store.migrate();
    const { claim, complete } = callsOf(store);
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

  test('nothing is pruned before its time', async () => {
    const { clock, store, finish } = await setup(database());
    await finish(50);
    clock.advance(DAY_MS - 1);
    expect(await store.prune()).toBe(0);
    expect(await database().rows('select state from idempotency_records')).toHaveLength(50);
    expect(await tombstones(database())).toBe(0);
  });
}

/** How what is over is taken away. */
export function describePruning(database: () => SqlDatabase): void {
  test('replicas that prune at once share the work, and each record is counted once', async () => {
    const { clock, stores, finish, claim } = await setup(database(), {}, 4);
    const keys = await finish(200);
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
    for (const key of keys) expect(await database().saved(key)).toEqual(NOTHING);
    clock.advance(30 * DAY_MS);
    expect(await pruneAll()).toBe(200);
    const left = await database().rows('select idempotency_key, state from idempotency_records');
    expect(left.map((row) => [String(row['idempotency_key']), row['state']])).toEqual([['k', 0]]);
  });

  test('a record that somebody has locked is left to the next round', async () => {
    const { clock, store, finish } = await setup(database());
    await finish(3);
    clock.advance(DAY_MS);
    const letGo = await database().lock('key 1');
    expect(await store.prune()).toBe(2);
    await letGo();
    expect(await store.prune()).toBe(1);
  });

  test('pruning waits for no owner, and no owner for pruning', async () => {
    const { clock, store, finish, claim, complete } = await setup(database());
    await claim('A', undefined, 'pending');
    await finish(20);
    clock.advance(DAY_MS);
    const letGo = await database().lock('pending');
    expect(await store.prune()).toBe(20);
    await letGo();
    await complete('A', undefined, 'pending');
    expect((await claim('B', undefined, 'pending')).kind).toBe('replay');
  });

  test('pruning in the background goes on until it is disposed of', async () => {
    const { clock, store, finish } = await setup(database());
    const pruning = store.startPruning({ everyMs: 50, batchSize: 2 });
    await finish(5);
    clock.advance(DAY_MS);
    while ((await tombstones(database())) < 5) await delay(50);
    await pruning[Symbol.asyncDispose]();
    clock.advance(30 * DAY_MS);
    await delay(300);
    expect(await tombstones(database())).toBe(5);
  });
}

async function tombstones(database: SqlDatabase): Promise<number> {
  const rows = await database.rows('select tombstone from idempotency_records');
  return rows.filter((row) => Number(row['tombstone']) === 1).length;
}

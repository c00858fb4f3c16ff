import { randomBytes } from 'node:crypto';
import { aesGcmSeal } from '../../../src/stores/postgres/index.ts';
import { attemptOf, callsOf, failureOf, within } from '../calls.ts';
import { empty, type Saved, type SqlDatabase, type SqlStore } from './sql-database.ts';

const SECRET = 'canary 4929 1234';
const RESPONSE = {
  kept: true,
  status: 201,
  headers: [['Set-Cookie', SECRET]],
  removedNames: [],
  body: Buffer.from(SECRET),
} as const;

async function setup(database: SqlDatabase) {
  await empty(database);
  const keys = { old: randomBytes(32), new: randomBytes(32) };
  const store = database.newStore({
    seal: aesGcmSeal({ keys: { old: keys.old }, sealWith: 'old' }),
  });
  await store.migrate();
  const finish = async (on: SqlStore, key: string) => {
    await callsOf(on).claim('A', undefined, key);
    await on.complete(key, RESPONSE, attemptOf('A'), within());
  };
  return { keys, store, finish };
}

/** What a seal keeps from whoever reads or changes the tables. */
export function describeSealed(database: () => SqlDatabase): void {
  test('nothing of a sealed response can be read in the database', async () => {
    const { store, finish } = await setup(database());
    await finish(store, 'k');
    const [row = {}] = await database().rows('select * from idempotency_records');
    const all = Object.values(row).map((value) => String(value));
    expect(all).toContain('A');
    expect(all.join(' ')).not.toContain('canary');
    const replay = { kind: 'replay', response: RESPONSE };
    expect(await callsOf(store).claim('B')).toEqual(replay);
    expect((await store.inspect('k'))?.response).toEqual(RESPONSE);
  });

  test('after a rotation old results open, and new ones take the new key', async () => {
    const { keys, store, finish } = await setup(database());
    await finish(store, 'before');
    const rotated = database().newStore({ seal: aesGcmSeal({ keys, sealWith: 'new' }) });
    await finish(rotated, 'after');
    for (const key of ['before', 'after']) {
      expect((await callsOf(rotated).claim('B', undefined, key)).kind).toBe('replay');
    }
    const { code } = await failureOf(callsOf(store).claim('B', undefined, 'after'));
    expect(code).toBe('record_corrupt');
  });

  test('sealed bytes that were changed, moved or replaced are refused and kept', async () => {
    const { store, finish } = await setup(database());
    await finish(store, 'k');
    await finish(store, 'other');
    const { claim } = callsOf(store);
    const { head, body: own } = (await database().saved('k')) as Saved;
    const { body: other } = (await database().saved('other')) as Saved;
    await database().overwriteSaved('k', { body: other });
    expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
    await database().overwriteSaved('k', { body: own });
    expect((await claim('B')).kind).toBe('replay');
    const changed = Buffer.from(own ?? []);
    changed.writeUInt8(255 - changed.readUInt8(40), 40);
    await database().overwriteSaved('k', { body: changed });
    expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
    const plain = JSON.stringify({ v: 1, status: 200, headers: [], removedNames: [] });
    await database().overwriteSaved('k', { head: plain, body: Buffer.alloc(0) });
    expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
    expect((await callsOf(database().newStore()).claim('B')).kind).toBe('replay');
    await database().overwriteSaved('k', { head, body: own });
    expect((await claim('B')).kind).toBe('replay');
  });

  test('results from before the seal are replayed only when that is asked for', async () => {
    const { keys, finish } = await setup(database());
    await finish(database().newStore(), 'k');
    const seal = aesGcmSeal({ keys, sealWith: 'new' });
    const strict = callsOf(database().newStore({ seal }));
    expect((await failureOf(strict.claim('B'))).message).toContain('acceptUnsealed');
    const onTheWay = callsOf(database().newStore({ seal, acceptUnsealed: true }));
    expect((await onTheWay.claim('B')).kind).toBe('replay');
  });
}

import { randomBytes } from 'node:crypto';
import type { RowDataPacket } from 'mysql2/promise';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { aesGcmSeal, MySqlStore } from '../../../src/stores/mysql/index.ts';
import { attemptOf, callsOf, failureOf, within } from '../postgres/calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

const SECRET = 'canary 4929 1234';
const RESPONSE = {
  kept: true,
  status: 201,
  headers: [['Set-Cookie', SECRET]],
  removedNames: [],
  body: Buffer.from(SECRET),
} as const;

async function setup() {
  const pool = server.pool();
  await pool.query('drop table if exists idempotency_records, idempotency_records_migrations');
  const keys = { old: randomBytes(32), new: randomBytes(32) };
  const storeWith = (seal?: ReturnType<typeof aesGcmSeal>, more: object = {}) =>
    new MySqlStore({ client: pool, ...(seal ? { seal } : {}), ...more });
  const store = storeWith(aesGcmSeal({ keys: { old: keys.old }, sealWith: 'old' }));
  await store.migrate();
  const finish = async (on: MySqlStore, key: string) => {
    await callsOf(on).claim('A', undefined, key);
    await on.complete(key, RESPONSE, attemptOf('A'), within());
  };
  return { pool, keys, store, storeWith, finish };
}

test('nothing of a sealed response can be read in the database', async () => {
  const { pool, store, finish } = await setup();
  await finish(store, 'k');
  const [rows] = await pool.query<RowDataPacket[]>('select * from idempotency_records');
  const all = Object.values(rows[0] ?? {}).map((value) => String(value));
  expect(all.join(' ')).not.toContain('canary');
  const replay = { kind: 'replay', response: RESPONSE };
  expect(await callsOf(store).claim('B')).toEqual(replay);
  expect((await store.inspect('k'))?.response).toEqual(RESPONSE);
});

test('after a rotation old results open, and new ones take the new key', async () => {
  const { keys, store, storeWith, finish } = await setup();
  await finish(store, 'before');
  const rotated = storeWith(aesGcmSeal({ keys, sealWith: 'new' }));
  await finish(rotated, 'after');
  for (const key of ['before', 'after']) {
    expect((await callsOf(rotated).claim('B', undefined, key)).kind).toBe('replay');
  }
  const { code } = await failureOf(callsOf(store).claim('B', undefined, 'after'));
  expect(code).toBe('record_corrupt');
});

test('sealed bytes that were changed, moved or replaced are refused and kept', async () => {
  const { pool, store, finish, storeWith } = await setup();
  await finish(store, 'k');
  await finish(store, 'other');
  const { claim } = callsOf(store);
  const id = recordKeyDigest('k');
  const [rows] = await pool.query<RowDataPacket[]>(
    'select id, response_body from idempotency_records order by id = ?',
    [id],
  );
  const [other, own] = rows.map((row) => Buffer.from(row['response_body']));
  const write = (body: Buffer | undefined) =>
    pool.query('update idempotency_records set response_body = ? where id = ?', [body, id]);
  await write(other);
  expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
  await write(own);
  expect((await claim('B')).kind).toBe('replay');
  own?.writeUInt8(255 - (own.at(40) ?? 0), 40);
  await write(own);
  expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
  const head = JSON.stringify({ v: 1, status: 200, headers: [], removedNames: [] });
  const text = "update idempotency_records set response_head = ?, response_body = '' where id = ?";
  await pool.query(text, [head, id]);
  expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
  expect((await callsOf(storeWith()).claim('B')).kind).toBe('replay');
});

test('results from before the seal are replayed only when that is asked for', async () => {
  const { keys, storeWith, finish } = await setup();
  await finish(storeWith(), 'k');
  const seal = aesGcmSeal({ keys, sealWith: 'new' });
  expect((await failureOf(callsOf(storeWith(seal)).claim('B'))).message).toContain(
    'acceptUnsealed',
  );
  const onTheWay = storeWith(seal, { acceptUnsealed: true });
  expect((await callsOf(onTheWay).claim('B')).kind).toBe('replay');
});

import { randomBytes } from 'node:crypto';
import { aesGcmSeal, PostgresStore } from '../../../src/stores/postgres/index.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { attemptOf, callsOf, failureOf, within } from './calls.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
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
    new PostgresStore({ client: pool, ...(seal ? { seal } : {}), ...more });
  const store = storeWith(aesGcmSeal({ keys: { old: keys.old }, sealWith: 'old' }));
  await store.migrate();
  const finish = async (on: PostgresStore, key: string) => {
    await callsOf(on).claim('A', undefined, key);
    await on.complete(key, RESPONSE, attemptOf('A'), within());
  };
  return { pool, keys, store, storeWith, finish };
}

test('nothing of a sealed response can be read in the database', async () => {
  const { pool, store, finish } = await setup();
  await finish(store, 'k');
  const { rows } = await pool.query(
    `select r::text || encode(body, 'escape') as all from idempotency_records as r`,
  );
  expect(rows[0]?.all).not.toContain('canary');
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
  const id = `(select id from idempotency_records where owner = 'A' order by created_at limit 1)`;
  const swap = `update idempotency_records as r set body = o.body
                  from idempotency_records as o where r.id <> o.id`;
  await pool.query(swap);
  expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
  await pool.query(swap);
  expect((await claim('B')).kind).toBe('replay');
  await pool.query(
    `update idempotency_records
        set body = set_byte(body, 40, 255 - get_byte(body, 40)) where id = ${id}`,
  );
  expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
  const head = JSON.stringify({ v: 1, status: 200, headers: [], removedNames: [] });
  await pool.query(`update idempotency_records set head = $1, body = '' where id = ${id}`, [head]);
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

import type { Pool, RowDataPacket } from 'mysql2/promise';
import { FencedError } from '../../../src/core/errors.ts';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { type MySqlPool, MySqlStore } from '../../../src/stores/mysql/index.ts';
import { attemptOf, callsOf, RESPONSE, within } from '../calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

/** A pool that counts the statements on the table of records, by their first word. */
function counting(pool: MySqlPool) {
  const counts: Record<string, number> = {};
  const client: MySqlPool = {
    async getConnection() {
      const connection = await pool.getConnection();
      const counted = (send: 'query' | 'execute') => (statement: { readonly sql: string }) => {
        const verb = /^(?:set statement .*? for )?(\w+)/.exec(statement.sql)?.[1] ?? '';
        counts[verb] = (counts[verb] ?? 0) + 1;
        return connection[send](statement as never);
      };
      return Object.assign(Object.create(connection), {
        query: counted('query'),
        execute: counted('execute'),
      });
    },
  };
  const reset = () => {
    for (const verb of Object.keys(counts)) delete counts[verb];
  };
  return { counts, client, reset };
}

async function setup() {
  const pool = server.pool();
  await pool.query('drop table if exists idempotency_records, idempotency_records_migrations');
  const { counts, client, reset } = counting(pool);
  const store = new MySqlStore({ client });
  await store.migrate();
  await callsOf(store).claim('A', undefined, 'warm');
  reset();
  const keys = (count: number) => Array.from({ length: count }, (_, n) => `key ${n}`);
  return { pool, counts, reset, store, keys, ...callsOf(store) };
}

async function statusOf(pool: Pool, name: string): Promise<number> {
  const [rows] = await pool.query<RowDataPacket[]>('show global status like ?', [name]);
  return Number(rows[0]?.['Value']);
}

test('one call at a time goes by itself, and many in one turn share statements', async () => {
  const { counts, reset, claim, complete, keys } = await setup();
  await claim('A');
  await complete('A');
  expect(counts).toEqual({ select: 1, insert: 1, update: 1 });
  reset();
  const many = keys(100);
  const claims = await Promise.all(many.map((key) => claim('A', undefined, key)));
  expect(claims).toEqual(many.map(() => ({ kind: 'new', attempt: 1 })));
  await Promise.all(many.map((key) => complete('A', undefined, key)));
  const replays = await Promise.all(many.map((key) => claim('B', undefined, key)));
  expect(replays).toEqual(many.map(() => ({ kind: 'replay', response: RESPONSE })));
  // Beside the one statement of each kind, new connections are asked once for what they are.
  const { select, insert, update, show = 0 } = counts;
  expect({ select, insert, update }).toEqual({ select: 2, insert: 1, update: 1 });
  expect(show).toBeLessThan(3);
});

test('a batch keeps every answer apart', async () => {
  const { store, claim, complete } = await setup();
  await claim('A', undefined, 'pending');
  await claim('A', undefined, 'done');
  await complete('A', undefined, 'done');
  const ask = (key: string, owner: string, fingerprint = 'f') =>
    store.claim(key, fingerprint, attemptOf(owner), within());
  const answers = await Promise.all([
    ask('pending', 'B'),
    ask('done', 'B'),
    ask('done', 'B', 'another'),
    ask('pending', 'A'),
    ask('new', 'B'),
    ask('twice', 'C'),
    ask('twice', 'D'),
  ]);
  const kinds = answers.map(({ kind }) => kind);
  expect(kinds.slice(0, 5)).toEqual(['pending', 'replay', 'conflict', 'new', 'new']);
  expect(kinds.slice(5).sort()).toEqual(['new', 'pending']);
});

test('completions of a batch keep their bodies apart; a foreign one is fenced', async () => {
  const { store, claim, keys } = await setup();
  const many = keys(40);
  await Promise.all(many.map((key) => claim('A', undefined, key)));
  const response = (n: number) =>
    n % 7 === 3
      ? ({ kept: false, status: 201 } as const)
      : { ...RESPONSE, status: 200 + n, body: Buffer.alloc(n * 11, n) };
  const saved = await Promise.allSettled(
    many.map((key, n) =>
      store.complete(key, response(n), attemptOf(n === 5 ? 'B' : 'A'), within()),
    ),
  );
  const failed = saved.filter(({ status }) => status === 'rejected');
  expect(failed).toHaveLength(1);
  expect(saved[5]).toMatchObject({ reason: expect.any(FencedError) });
  const replays = await Promise.all(many.map((key) => claim('C', undefined, key)));
  for (const [n, replay] of replays.entries()) {
    if (n === 5) expect(replay.kind).toBe('pending');
    else expect(replay).toEqual({ kind: 'replay', response: response(n) });
  }
});

test('of completions of one key in one batch the first stays', async () => {
  const { store, claim, keys } = await setup();
  await claim('A');
  await Promise.all(keys(5).map((key) => claim('A', undefined, key)));
  const bodies = ['one', 'two', 'three'].map((text) => ({ ...RESPONSE, body: Buffer.from(text) }));
  await Promise.all([
    ...keys(5).map((key) => store.complete(key, RESPONSE, attemptOf('A'), within())),
    ...bodies.map((response) => store.complete('k', response, attemptOf('A'), within())),
  ]);
  expect(await claim('B')).toEqual({ kind: 'replay', response: bodies[0] });
});

test('one bad record of a batch fails alone', async () => {
  const { pool, store, claim, keys } = await setup();
  await pool.query("alter table idempotency_records add constraint bad check (owner <> 'bad')");
  const calls = keys(20).map((key, n) => claim(n === 7 ? 'bad' : 'A', undefined, key));
  const answers = await Promise.allSettled(calls);
  for (const [n, answer] of answers.entries()) {
    expect(answer.status).toBe(n === 7 ? 'rejected' : 'fulfilled');
  }
  const large = { ...RESPONSE, body: Buffer.alloc(17 * 1024 * 1024) };
  const saved = await Promise.allSettled(
    keys(6).map((key, n) =>
      store.complete(key, n === 3 ? large : RESPONSE, attemptOf('A'), within()),
    ),
  );
  expect(saved.filter(({ status }) => status === 'rejected')).toEqual([saved[3]]);
  expect(saved[3]).toMatchObject({ reason: { code: 'record_too_large' } });
});

test('a record that somebody has locked holds up nobody else of its batch', async () => {
  const { pool, claim, complete, keys } = await setup();
  const many = keys(20);
  await Promise.all(many.map((key) => claim('A', undefined, key)));
  await claim('L', undefined, 'locked');
  const other = await pool.getConnection();
  await other.query('begin');
  const id = recordKeyDigest('locked');
  await other.query('select 1 from idempotency_records where id = ? for update', [id]);
  let isSaved = false;
  const locked = complete('L', 10_000, 'locked').then(() => {
    isSaved = true;
  });
  await Promise.all(many.map((key) => complete('A', 3_000, key)));
  expect(isSaved).toBe(false);
  await other.query('rollback');
  other.release();
  await locked;
});

test('batches over the same keys in any order leave no call unanswered, and one new', async () => {
  const { pool, keys } = await setup();
  const stores = Array.from({ length: 6 }, () => callsOf(new MySqlStore({ client: pool })));
  for (let round = 0; round < 10; round += 1) {
    const shared = keys(50).map((key) => `${round} ${key}`);
    const answers = await Promise.all(
      stores.flatMap(({ claim }, n) =>
        shared
          .toSorted(() => Math.random() - 0.5)
          .map((key) => claim(`owner ${n}`, undefined, key)),
      ),
    );
    expect(answers.filter(({ kind }) => kind === 'new')).toHaveLength(50);
  }
});

test('no statement of a request reads the whole table', async () => {
  const { pool, claim, complete, keys } = await setup();
  await Promise.all(keys(2_000).map((key) => claim('A', undefined, key)));
  const before = await statusOf(pool, 'Rows_read');
  const some = keys(100);
  await Promise.all(some.map((key) => complete('A', undefined, key)));
  await Promise.all(some.map((key) => claim('B', undefined, key)));
  await Promise.all(some.map((key) => claim('B', undefined, `another ${key}`)));
  await claim('C', undefined, 'by itself');
  await complete('C', undefined, 'by itself');
  expect((await statusOf(pool, 'Rows_read')) - before).toBeLessThan(1_000);
});

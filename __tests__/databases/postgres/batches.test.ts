import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { FencedError } from '../../../src/core/errors.ts';
import { type PgPool, PostgresStore } from '../../../src/stores/postgres/index.ts';
import { attemptOf, callsOf, failureOf, RESPONSE, within } from '../calls.ts';
import { PostgresServer } from '../servers/postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** A pool that counts the statements it is given, by the verb in their names. */
function counting(pool: ReturnType<PostgresServer['pool']>) {
  const counts: Record<string, number> = {};
  const client: PgPool = {
    get totalCount() {
      return pool.totalCount;
    },
    connect(callback) {
      pool.connect((error, connection, release) => {
        if (connection === undefined) return callback(error, undefined, release);
        callback(
          error,
          {
            query: (query, done) => {
              const verb = /^idempotent_(\w+)_/.exec(query.name ?? '')?.[1] ?? 'unnamed';
              counts[verb] = (counts[verb] ?? 0) + 1;
              connection.query({ ...query }, done);
            },
            on: (event, listener) => connection.on(event, listener),
            removeListener: (event, listener) => connection.removeListener(event, listener),
          },
          release,
        );
      });
    },
  };
  return { counts, client };
}

async function setup() {
  const pool = server.pool();
  await pool.query('drop table if exists idempotency_records, idempotency_records_migrations');
  const { counts, client } = counting(pool);
  const store = new PostgresStore({ client });
  await store.migrate();
  const keys = (count: number) => Array.from({ length: count }, (_, n) => `key ${n}`);
  return { pool, counts, store, keys, ...callsOf(store) };
}

test('one call at a time goes as one statement, and many in one turn share one', async () => {
  const { counts, claim, complete, keys } = await setup();
  await claim('A');
  await complete('A');
  expect(counts).toEqual({ migrate: 1, version: 1, claim: 1, complete: 1 });
  const many = keys(100);
  const claims = await Promise.all(many.map((key) => claim('A', undefined, key)));
  expect(claims).toEqual(many.map(() => ({ kind: 'new', attempt: 1 })));
  await Promise.all(many.map((key) => complete('A', undefined, key)));
  expect(counts).toMatchObject({ claims: 1, completes: 1, claim: 1, complete: 1 });
  const replays = await Promise.all(many.map((key) => claim('B', undefined, key)));
  expect(replays).toEqual(many.map(() => ({ kind: 'replay', response: RESPONSE })));
  expect(counts).toMatchObject({ claims: 2, claim: 1 });
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

test('one bad record of a batch fails alone', async () => {
  const { store, keys } = await setup();
  const calls = keys(20).map((key, n) =>
    store.claim(key, n === 7 ? 'NUL \0 is no text' : 'f', attemptOf('A'), within()),
  );
  const answers = await Promise.allSettled(calls);
  for (const [n, answer] of answers.entries()) {
    expect(answer.status).toBe(n === 7 ? 'rejected' : 'fulfilled');
  }
});

test('an error quotes no value of a record, wherever PostgreSQL does', async () => {
  const { pool, claim } = await setup();
  await pool.query(
    "alter table idempotency_records add constraint refused check (owner <> 'canary')",
  );
  const bare = await failureOf(
    pool.query(`insert into idempotency_records (id, owner, fingerprint, idempotency_key, attempt,
                  state, created_at) values ('', 'canary', '', '', 1, 0, now())`),
  );
  expect(inspect(bare)).toContain('canary');
  const error = await failureOf(claim('canary'));
  expect(error).toMatchObject({ code: 'store_failed', cause: { code: '23514' } });
  expect(inspect(error, { depth: null, showHidden: true })).not.toContain('canary');
});

test('a record that somebody has locked holds up nobody else of its batch', async () => {
  const { pool, claim, complete, keys } = await setup();
  const many = keys(20);
  await Promise.all(many.map((key) => claim('A', undefined, key)));
  const other = await pool.connect();
  await other.query('begin');
  await claim('L', undefined, 'locked');
  await other.query("select from idempotency_records where owner = 'L' for update");
  const locked = complete('L', 10_000, 'locked');
  await Promise.all(many.map((key) => complete('A', 3_000, key)));
  await other.query('rollback');
  other.release();
  await expect(locked).resolves.toBeUndefined();
});

test('batches over the same keys in any order never wait for each other in a circle', async () => {
  const { pool, keys } = await setup();
  const stores = Array.from({ length: 6 }, () => callsOf(new PostgresStore({ client: pool })));
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
  const { rows } = await pool.query('select deadlocks from pg_stat_database where datname = $1', [
    'postgres',
  ]);
  expect(rows).toEqual([{ deadlocks: '0' }]);
});

test('completions that come one by one change the row alone, and no index (HOT)', async () => {
  const { pool, claim, complete, keys } = await setup();
  for (const key of keys(60)) {
    await claim('A', undefined, key);
    await complete('A', undefined, key);
  }
  const text = `select n_tup_upd::int as updates, n_tup_hot_upd::int as hot
                  from pg_stat_user_tables where relname = 'idempotency_records'`;
  // Statistics reach the view some time after their statements.
  for (let n = 0; n < 100; n += 1) {
    const { rows } = await pool.query(text);
    if (rows[0]?.updates === 60) break;
    await delay(100);
  }
  const { rows } = await pool.query(text);
  expect(rows).toEqual([{ updates: 60, hot: 60 }]);
});

test('no statement of a request reads the whole table, also where it is nearly empty', async () => {
  const { pool, claim, complete, keys } = await setup();
  await Promise.all(keys(300).map((key) => claim('A', undefined, key)));
  await Promise.all(keys(300).map((key) => complete('A', undefined, key)));
  for (const key of keys(20)) await claim('B', undefined, key);
  await delay(1_500);
  const { rows } = await pool.query(
    `select seq_scan::int as scans from pg_stat_user_tables where relname = 'idempotency_records'`,
  );
  expect(rows).toEqual([{ scans: 0 }]);
});

import { inspect } from 'node:util';
import type { PoolOptions, ResultSetHeader } from 'mysql2/promise';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { attemptOf, callsOf, failureOf, RESPONSE, within } from '../calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

/** An empty table, and a store whose pool says `first` on each new connection. */
async function setup(first: readonly string[] = [], options: PoolOptions = {}) {
  const direct = server.pool();
  await direct.query('drop table if exists idempotency_records, idempotency_records_migrations');
  await new MySqlStore({ client: direct }).migrate();
  const pool = server.pool(options);
  pool.on('connection', (connection) => {
    for (const text of first) (connection as unknown as { query(sql: string): void }).query(text);
  });
  const store = new MySqlStore({ client: pool });
  return { direct, pool, store, ...callsOf(store) };
}

test('with autocommit off nothing is acknowledged, and the error says why', async () => {
  const { direct, claim } = await setup(['set autocommit = 0']);
  const { code, message } = await failureOf(claim('A'));
  expect(code).toBe('database_unusable');
  expect(message).toContain('autocommit');
  expect((await direct.query('select 1 from idempotency_records'))[0]).toEqual([]);
});

test('autocommit that is switched off later is found out by the first write', async () => {
  const { pool, claim, complete } = await setup([], { connectionLimit: 1 });
  await claim('A');
  await pool.query('set autocommit = 0');
  expect((await failureOf(complete('A'))).code).toBe('database_unusable');
  expect((await claim('B')).kind).toBe('pending');
  await complete('A');
  expect((await claim('B')).kind).toBe('replay');
});

test('a connection that comes back with a transaction open is dropped, not written to', async () => {
  const { direct, pool, claim } = await setup([], { connectionLimit: 1 });
  await claim('A', undefined, 'warm');
  await pool.query('begin');
  expect((await failureOf(claim('A'))).code).toBe('database_unusable');
  const [rows] = await direct.query('select idempotency_key from idempotency_records');
  expect(rows).toHaveLength(1);
  expect(await claim('B')).toEqual({ kind: 'new', attempt: 1 });
});

test('what is not committed is never replayed, not even under READ UNCOMMITTED', async () => {
  const { direct, claim } = await setup([
    'set session transaction isolation level read uncommitted',
  ]);
  await claim('A');
  const business = await direct.getConnection();
  await business.query('begin');
  await callsOf(new MySqlStore({ client: direct })).claim('A', undefined, 'other');
  const store = new MySqlStore({ client: direct });
  await store.completeIn(business, 'k', RESPONSE, attemptOf('A'));
  expect((await claim('B')).kind).toBe('pending');
  const both = await Promise.all([claim('B'), claim('C', undefined, 'other')]);
  expect(both.map(({ kind }) => kind)).toEqual(['pending', 'pending']);
  await business.query('commit');
  business.release();
  expect((await claim('B')).kind).toBe('replay');
});

test.each(['', 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT', 'ORACLE', 'TRADITIONAL'])(
  'keys, owners and bodies stay what they are with sql_mode %j',
  async (mode) => {
    const first = [`set sql_mode = '${mode}'`, "set time_zone = '-11:00'", 'set names latin1'];
    const { pool, store } = await setup(first);
    for (const prepare of [true, false]) {
      const { claim } = callsOf(new MySqlStore({ client: pool, prepare }));
      const owner = `own'er "\\" ${'é'.repeat(400)} ${prepare}`;
      const keys = ['k\\', "k'", 'K\\', 'k\\ ', 'k\0', 'ḱ'].map((key) => `${key} ${prepare}`);
      const claims = await Promise.all(keys.map((key) => claim(owner, undefined, key)));
      expect(claims.map(({ kind }) => kind)).toEqual(keys.map(() => 'new'));
      for (const key of keys) {
        expect((await claim(owner, undefined, key)).kind).toBe('new');
        expect((await claim(`${owner} `, undefined, key)).kind).toBe('pending');
      }
    }
    await store.claim('long', 'f'.repeat(70_000), attemptOf('A'), within());
    const same = store.claim('long', 'f'.repeat(70_000), attemptOf('B'), within());
    expect((await same).kind).toBe('pending');
    const other = store.claim('long', `${'f'.repeat(69_999)}g`, attemptOf('B'), within());
    expect((await other).kind).toBe('conflict');
  },
);

test('the way in which a pool answers its owner has no say', async () => {
  const { store, claim, complete } = await setup([], {
    rowsAsArray: true,
    nestTables: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: true,
    namedPlaceholders: true,
    typeCast: () => 'nothing',
    timezone: '+05:00',
    charset: 'LATIN1_SWEDISH_CI',
  });
  await claim('A');
  await complete('A');
  expect(await claim('B')).toEqual({ kind: 'replay', response: RESPONSE });
  const view = await store.inspect('k');
  expect(view).toMatchObject({ state: 'completed', owner: 'A', attempt: 1 });
  expect(Math.abs((view?.createdAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
  expect((await store.list()).records).toHaveLength(1);
  expect((await store.check()).durable).toBe(true);
});

test('the answer of ON DUPLICATE KEY UPDATE would not tell who was first: it is not asked', async () => {
  const { direct, claim } = await setup();
  await claim('A');
  const text = `insert into idempotency_records (id, owner, fingerprint, idempotency_key, attempt,
      state, tombstone, created_at)
    select id, 'B', '', '', 1, 0, 0, created_at from idempotency_records as first
    on duplicate key update owner = first.owner`;
  // With CLIENT_FOUND_ROWS, which mysql2 sets, a record that was there counts as one.
  expect((await direct.query<ResultSetHeader>(text))[0].affectedRows).toBe(1);
  expect((await claim('B')).kind).toBe('pending');
});

test('a race within one batch of claims has one winner', async () => {
  const { direct, claim } = await setup();
  const others = Array.from({ length: 3 }, () => new MySqlStore({ client: server.pool() }));
  const rivals = [claim, ...others.map((store) => callsOf(store).claim)];
  // Whoever has to connect first is in no race.
  await Promise.all(rivals.map((rival, n) => rival('A', undefined, `warm ${n}`)));
  for (let round = 0; round < 10; round += 1) {
    const keys = Array.from({ length: 40 }, (_, n) => `key ${round} ${n}`);
    const answers = await Promise.all(
      rivals.flatMap((rival, n) => keys.map((key) => rival(`owner ${n}`, undefined, key))),
    );
    expect(answers.filter(({ kind }) => kind === 'new')).toHaveLength(40);
    expect(answers.filter(({ kind }) => kind === 'pending')).toHaveLength(120);
  }
  const [rows] = await direct.query('select 1 from idempotency_records');
  expect(rows).toHaveLength(404);
});

test('an error quotes no value of a record, wherever MySQL and its driver do', async () => {
  const { direct } = await setup();
  await direct.query('alter table idempotency_records modify owner int not null');
  const text = "update idempotency_records set owner = 'canary'";
  await callsOf(new MySqlStore({ client: direct })).claim('7');
  expect(inspect(await failureOf(direct.query(text)))).toContain('canary');
  for (const prepare of [true, false]) {
    const { claim } = callsOf(new MySqlStore({ client: direct, prepare }));
    const fails = ['one', 'two'].map((key) => failureOf(claim('canary', undefined, key)));
    for (const error of await Promise.all(fails)) {
      expect(error).toMatchObject({ code: 'store_failed', cause: { errno: 1366 } });
      expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/canary|63616e617279/i);
    }
  }
});

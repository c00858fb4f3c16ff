import { setTimeout as delay } from 'node:timers/promises';
import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { attemptOf, callsOf, failureOf, within } from '../calls.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { FaultyProxy } from '../servers/proxy.ts';
import { freePort } from '../servers/server-process.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** An empty table, reached through a proxy with each driver, and past it. */
async function setup(driver: 'pg' | 'postgres.js', config: { max?: number } = {}) {
  const direct = server.pool();
  await direct.query('drop table if exists idempotency_records, idempotency_records_migrations');
  const proxy = await FaultyProxy.start(server);
  const address = { port: proxy.port, ...config };
  const pool = server.pool(address);
  const client = driver === 'pg' ? pool : server.sql(address);
  const store = new PostgresStore({ client });
  await store.migrate();
  const past = new PostgresStore({ client: direct });
  return { proxy, pool, store, past, ...callsOf(store), pastCalls: callsOf(past) };
}

describe.each(['pg', 'postgres.js'] as const)('on %s', (driver) => {
  test('an applied claim whose reply was lost can be sent again or undone', async () => {
    const { proxy, claim, release, past, pastCalls } = await setup(driver, { max: 1 });
    // The statement is known to the connection, so that the eaten reply is the one of its INSERT.
    await claim('A', undefined, 'other');
    proxy.mode = 'eat-reply';
    expect((await failureOf(claim('A'))).code).toMatch(/^store_(failed|timeout|no_connection)$/);
    proxy.mode = 'pass';
    expect(proxy.eaten).toBeGreaterThan(0);
    expect((await past.inspect('k'))?.owner).toBe('A');
    expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
    await release('A');
    expect(await pastCalls.claim('B')).toEqual({ kind: 'new', attempt: 1 });
    await proxy.stop();
  });

  test('an applied complete whose reply was lost resolves when sent again', async () => {
    const { proxy, claim, complete, past } = await setup(driver, { max: 1 });
    await claim('A');
    // The statement is known to the connection, so that the eaten reply is the one of its UPDATE.
    await claim('A', undefined, 'other');
    await complete('A', undefined, 'other');
    proxy.mode = 'eat-reply';
    await failureOf(complete('A'));
    proxy.mode = 'pass';
    expect((await past.inspect('k'))?.state).toBe('completed');
    await complete('A');
    const replay = await claim('B');
    expect(replay).toMatchObject({ kind: 'replay', response: { status: 201 } });
    await proxy.stop();
  });

  test('a half-open connection is a rejection within the deadline', async () => {
    const { proxy, claim } = await setup(driver);
    await claim('A');
    proxy.mode = 'hole';
    const startMs = performance.now();
    const { code } = await failureOf(claim('B', 700));
    expect(code).toMatch(/^store_(timeout|no_connection)$/);
    expect(performance.now() - startMs).toBeLessThan(3_000);
    await proxy.stop();
  });

  test('a server that comes late is a rejection first, and no obstacle then', async () => {
    const { proxy: unused, past } = await setup(driver);
    await unused.stop();
    const port = await freePort();
    const client =
      driver === 'pg' ? server.pool({ port }) : server.sql({ port, connect_timeout: 1 });
    const { claim } = callsOf(new PostgresStore({ client }));
    const { code, message } = await failureOf(claim('A', 3_000));
    expect(code).toMatch(/^store_(failed|no_connection)$/);
    expect(message).not.toContain("'k'");
    expect(await past.inspect('k')).toBeUndefined();
    const proxy = await FaultyProxy.start(server, port);
    expect(await claim('A', 10_000)).toEqual({ kind: 'new', attempt: 1 });
    await proxy.stop();
  });

  test('a store that was not migrated says so in one sentence', async () => {
    const client = driver === 'pg' ? server.pool() : server.sql();
    const store = new PostgresStore({ client, table: 'not_there' });
    const { code, message } = await failureOf(callsOf(store).claim('A'));
    expect(code).toBe('store_not_migrated');
    expect(message).toContain('public.not_there');
    expect(message).toContain('migrate()');
  });
});

test('a connection whose call was given up is dropped, and the pool makes a new one', async () => {
  const { proxy, pool, claim } = await setup('pg', { max: 1 });
  await claim('A');
  proxy.mode = 'hole';
  await failureOf(claim('B', 300));
  proxy.mode = 'pass';
  expect(await claim('C')).toEqual({ kind: 'pending', leaseOver: false });
  expect(pool.totalCount).toBe(1);
  await proxy.stop();
});

test('a claim that is applied after its deadline is undone by a release', async () => {
  const { proxy, claim, release, past } = await setup('pg');
  await claim('A', undefined, 'warm');
  server.pause();
  const late = await failureOf(claim('A', 300));
  expect(late.code).toBe('store_timeout');
  server.resume();
  await delay(500);
  expect((await past.inspect('k'))?.owner).toBe('A');
  await release('A');
  expect(await claim('B')).toEqual({ kind: 'new', attempt: 1 });
  await proxy.stop();
});

test('an exhausted pool is a rejection in time: nothing was sent', async () => {
  const { proxy, pool, claim, past } = await setup('pg', { max: 1 });
  const hostage = await pool.connect();
  const { code, message } = await failureOf(claim('A', 300));
  expect(code).toBe('store_no_connection');
  expect(message).toContain('Nothing was sent');
  hostage.release();
  await delay(100);
  expect(await past.inspect('k')).toBeUndefined();
  expect(await claim('B')).toEqual({ kind: 'new', attempt: 1 });
  expect(pool.idleCount).toBe(1);
  await proxy.stop();
});

test('a call waits for locks on the server no longer than it has time', async () => {
  const { proxy, pool, store, claim, complete } = await setup('pg');
  await claim('A');
  const business = await pool.connect();
  await business.query('begin');
  await business.query("select from idempotency_records where owner = 'A' for update");
  const startMs = performance.now();
  expect((await failureOf(complete('A', 1_000))).code).toMatch(/^store_(busy|timeout)$/);
  expect(performance.now() - startMs).toBeLessThan(4_000);
  await delay(300);
  const waiting = await pool.query(
    "select from pg_stat_activity where wait_event_type = 'Lock' and state = 'active'",
  );
  expect(waiting.rowCount).toBe(0);
  await business.query('rollback');
  business.release();
  await complete('A');
  expect((await store.inspect('k'))?.state).toBe('completed');
  await proxy.stop();
});

test('a claim does not wait for an owner with an open transaction', async () => {
  const { proxy, pool, claim } = await setup('pg');
  await claim('A');
  const business = await pool.connect();
  await business.query('begin');
  await business.query("update idempotency_records set state = 1 where owner = 'A'");
  expect(await claim('B', 2_000)).toEqual({ kind: 'pending', leaseOver: false });
  await business.query('rollback');
  business.release();
  await proxy.stop();
});

test('the settings of a lent connection stay as they were', async () => {
  const { proxy, pool, claim, complete } = await setup('pg', { max: 1 });
  await claim('A', 1_234);
  await complete('A', 1_234);
  const { rows } = await pool.query('show lock_timeout');
  expect(rows).toEqual([{ lock_timeout: '0' }]);
  await proxy.stop();
});

test('a client that cannot be used is refused when the store is built', () => {
  for (const client of [undefined, null, {}, 'postgres://localhost', 5]) {
    expect(() => new PostgresStore({ client: client as never })).toThrow('option `client`');
  }
});

test('a body that is larger than drivers can carry is too large, and said so at once', async () => {
  const store = new PostgresStore({ client: server.pool() });
  const body = Buffer.alloc(64 * 1024 * 1024 + 1);
  const response = { kept: true, status: 200, headers: [], removedNames: [], body } as const;
  const { code } = await failureOf(store.complete('k', response, attemptOf('A'), within()));
  expect(code).toBe('record_too_large');
});

test('a client with query(text, values) that does not answer is a rejection in time', async () => {
  const client = { query: () => new Promise<never>(() => {}) };
  const { claim } = callsOf(new PostgresStore({ client }));
  expect((await failureOf(claim('A', 200))).code).toBe('store_timeout');
});

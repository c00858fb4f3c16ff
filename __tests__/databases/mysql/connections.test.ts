import { setTimeout as delay } from 'node:timers/promises';
import type { PoolOptions } from 'mysql2/promise';
import { type MySqlPool, MySqlStore } from '../../../src/stores/mysql/index.ts';
import { Loan } from '../../../src/stores/mysql/loan.ts';
import { attemptOf, callsOf, failureOf, within } from '../calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { FaultyProxy } from '../servers/proxy.ts';
import { freePort } from '../servers/server-process.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

/** An empty table, reached through a proxy, and past it. */
async function setup(options: PoolOptions = {}) {
  const direct = server.pool();
  await direct.query('drop table if exists idempotency_records, idempotency_records_migrations');
  const proxy = await FaultyProxy.start(server);
  const pool = server.pool({ port: proxy.port, ...options });
  const store = new MySqlStore({ client: pool });
  await store.migrate();
  const past = new MySqlStore({ client: direct });
  return { proxy, pool, direct, store, past, ...callsOf(store), pastCalls: callsOf(past) };
}

/** A pool on which something happens as soon as a statement like this is sent. */
function upon(like: RegExp, happens: () => void, pool: MySqlPool): MySqlPool {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      const watched = (send: 'query' | 'execute') => (statement: { readonly sql: string }) => {
        if (!like.test(statement.sql)) return connection[send](statement as never);
        happens();
        return delay(100).then(() => connection[send](statement as never));
      };
      return Object.assign(Object.create(connection), {
        query: watched('query'),
        execute: watched('execute'),
      });
    },
  };
}

test('an applied claim whose reply was lost can be sent again or undone', async () => {
  const { proxy, pool, claim, release, past, pastCalls } = await setup({ connectionLimit: 1 });
  // The statements are known to the connection, so that the eaten reply is the one of the INSERT.
  await claim('A', undefined, 'other');
  const client = upon(/insert into/, () => (proxy.mode = 'eat-reply'), pool);
  const unlucky = callsOf(new MySqlStore({ client }));
  expect((await failureOf(unlucky.claim('A'))).code).toBe('store_failed');
  proxy.mode = 'pass';
  expect(proxy.eaten).toBe(1);
  expect((await past.inspect('k'))?.owner).toBe('A');
  expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
  await release('A');
  expect(await pastCalls.claim('B')).toEqual({ kind: 'new', attempt: 1 });
  await proxy.stop();
});

test('an applied complete whose reply was lost resolves when sent again', async () => {
  const { proxy, pool, claim, complete, past } = await setup({ connectionLimit: 1 });
  await claim('A');
  await claim('A', undefined, 'other');
  await complete('A', undefined, 'other');
  const client = upon(/update/, () => (proxy.mode = 'eat-reply'), pool);
  const unlucky = callsOf(new MySqlStore({ client }));
  await failureOf(unlucky.complete('A'));
  proxy.mode = 'pass';
  expect(proxy.eaten).toBe(1);
  expect((await past.inspect('k'))?.state).toBe('completed');
  await complete('A');
  const replay = await claim('B');
  expect(replay).toMatchObject({ kind: 'replay', response: { status: 201 } });
  await proxy.stop();
});

test('a half-open connection is a rejection within the deadline', async () => {
  const { proxy, claim } = await setup();
  await claim('A');
  proxy.mode = 'hole';
  const startMs = performance.now();
  const { code } = await failureOf(claim('B', 700));
  expect(code).toMatch(/^store_(timeout|no_connection)$/);
  expect(performance.now() - startMs).toBeLessThan(3_000);
  await proxy.stop();
});

test('a server that comes late is a rejection first, and no obstacle then', async () => {
  const { proxy: unused, past } = await setup();
  await unused.stop();
  const port = await freePort();
  const { claim } = callsOf(new MySqlStore({ client: server.pool({ port }) }));
  const { code, message } = await failureOf(claim('A', 3_000));
  expect(code).toBe('store_no_connection');
  expect(message).not.toContain("'k'");
  expect(await past.inspect('k')).toBeUndefined();
  const proxy = await FaultyProxy.start(server, port);
  expect(await claim('A', 10_000)).toEqual({ kind: 'new', attempt: 1 });
  await proxy.stop();
});

test('a store that was not migrated says so in one sentence', async () => {
  const store = new MySqlStore({ client: server.pool(), table: 'not_there' });
  const { code, message } = await failureOf(callsOf(store).claim('A'));
  expect(code).toBe('store_not_migrated');
  expect(message).toContain('not_there');
  expect(message).toContain('migrate()');
});

test('a connection whose call was given up is dropped, and the pool makes a new one', async () => {
  const { proxy, claim } = await setup({ connectionLimit: 1 });
  await claim('A');
  expect(proxy.connections).toBe(1);
  proxy.mode = 'hole';
  await failureOf(claim('B', 300));
  while (proxy.connections > 0) await delay(20);
  proxy.mode = 'pass';
  expect(await claim('C')).toEqual({ kind: 'pending', leaseOver: false });
  expect(proxy.connections).toBe(1);
  await proxy.stop();
});

test('a statement whose time is over before it is sent is not, and its connection is dropped', async () => {
  const { proxy, pool } = await setup({ connectionLimit: 1 });
  const loan = await Loan.take(pool, performance.now() + 200, false);
  await delay(250);
  const sent = loan.send({ text: 'create table late (id int)', values: [], isFixed: false });
  await expect(sent).rejects.toThrow('MySQL did not answer in time.');
  while (proxy.connections > 0) await delay(20);
  expect(await server.query("show tables from shop like 'late'")).toEqual([]);
  await proxy.stop();
});

test('a claim that is applied after its deadline is undone by a release', async () => {
  const { proxy, pool, claim, release, past } = await setup({ connectionLimit: 1 });
  // The statements are known to the connection: else the server would prepare, and be sent no more.
  await claim('A', 1_500, 'warm');
  const client = upon(/insert into/, () => server.pause(), pool);
  const late = await failureOf(callsOf(new MySqlStore({ client })).claim('A', 1_500));
  expect(late.code).toBe('store_timeout');
  server.resume();
  while ((await past.inspect('k')) === undefined) await delay(50);
  await release('A');
  expect(await claim('B')).toEqual({ kind: 'new', attempt: 1 });
  await proxy.stop();
});

test('an exhausted pool is a rejection in time: nothing was sent', async () => {
  const { proxy, pool, claim, past } = await setup({ connectionLimit: 1 });
  const hostage = await pool.getConnection();
  const { code, message } = await failureOf(claim('A', 300));
  expect(code).toBe('store_no_connection');
  expect(message).toContain('Nothing was sent');
  hostage.release();
  await delay(100);
  expect(await past.inspect('k')).toBeUndefined();
  expect(await claim('B')).toEqual({ kind: 'new', attempt: 1 });
  expect(proxy.connections).toBe(1);
  await proxy.stop();
});

test('a call waits for locks on the server no longer than it has time', async () => {
  const { proxy, direct, store, claim, complete } = await setup();
  await claim('A');
  const business = await direct.getConnection();
  await business.query('begin');
  await business.query("select id from idempotency_records where owner = 'A' for update");
  const startMs = performance.now();
  expect((await failureOf(complete('A', 1_000))).code).toMatch(/^store_(busy|timeout)$/);
  expect(performance.now() - startMs).toBeLessThan(4_000);
  await delay(300);
  const waiting = await server.query(
    "select 1 from information_schema.processlist where user = 'tester' and info like '%update%'",
  );
  expect(waiting).toEqual([]);
  await business.query('rollback');
  business.release();
  expect((await store.inspect('k'))?.state).toBe('pending');
  await complete('A');
  expect((await store.inspect('k'))?.state).toBe('completed');
  await proxy.stop();
});

test('a claim does not wait for an owner with an open transaction', async () => {
  const { proxy, direct, claim } = await setup();
  await claim('A');
  const business = await direct.getConnection();
  await business.query('begin');
  await business.query("update idempotency_records set state = 1 where owner = 'A'");
  expect(await claim('B', 2_000)).toEqual({ kind: 'pending', leaseOver: false });
  await business.query('rollback');
  business.release();
  await proxy.stop();
});

test('the settings of a lent connection stay as they were', async () => {
  const { proxy, pool, claim, complete } = await setup({ connectionLimit: 1 });
  const settings = 'select @@max_statement_time, @@innodb_lock_wait_timeout, @@tx_isolation';
  const [before] = await pool.query(settings);
  await claim('A', 1_234);
  await complete('A', 1_234);
  expect((await pool.query(settings))[0]).toEqual(before);
  await proxy.stop();
});

test('a body that is larger than is ever kept is too large, and said so at once', async () => {
  const store = new MySqlStore({ client: server.pool() });
  const body = Buffer.alloc(64 * 1024 * 1024 + 1);
  const response = { kept: true, status: 200, headers: [], removedNames: [], body } as const;
  const { code } = await failureOf(store.complete('k', response, attemptOf('A'), within()));
  expect(code).toBe('record_too_large');
});

test.each([true, false])(
  'a statement over max_allowed_packet is too large, and not sent (prepare: %s)',
  async (prepare) => {
    const { proxy, pool, claim, store } = await setup({ connectionLimit: 1 });
    await server.query('set global max_allowed_packet = 1048576');
    const client = server.pool();
    const small = new MySqlStore({ client, prepare });
    const body = Buffer.alloc(1024 * 1024, 1);
    const response = { kept: true, status: 200, headers: [], removedNames: [], body } as const;
    await claim('A');
    const saved = small.complete('k', response, attemptOf('A'), within());
    expect((await failureOf(saved)).code).toBe('record_too_large');
    await small.complete('k', { kept: false, status: 200 }, attemptOf('A'), within());
    expect((await store.inspect('k'))?.response).toEqual({ kept: false, status: 200 });
    await server.query('set global max_allowed_packet = default');
    await pool.query('select 1');
    await proxy.stop();
  },
);

test('a client that does not answer is a rejection in time', async () => {
  const connection = {
    query: () => new Promise<never>(() => {}),
    execute: () => new Promise<never>(() => {}),
    release: () => {},
    destroy: () => {},
    on: () => {},
  };
  const { claim } = callsOf(new MySqlStore({ client: { getConnection: async () => connection } }));
  expect((await failureOf(claim('A', 200))).code).toBe('store_timeout');
});

import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import { MySqlStore, mysqlMigrations } from '../../../src/stores/mysql/index.ts';
import { callsOf, failureOf } from '../calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

let tables = 0;

/** A store whose table is not there yet. */
function setup() {
  tables += 1;
  const table = `records_${tables}`;
  const store = new MySqlStore({ client: server.pool(), table });
  return { table, store, ...callsOf(store) };
}

/** What the server says that the tables are, but for their names. */
async function shapeOf(table: string) {
  const shapes = ['', '_migrations'].map(async (ending) => {
    const [row] = await server.query(`show create table shop.${table}${ending}`);
    return String(row?.['Create Table']).replaceAll(table, 'table');
  });
  return Promise.all(shapes);
}

test('ten replicas that start at once on an empty database make one table', async () => {
  const { table } = setup();
  const migrations = Array.from({ length: 10 }, () =>
    new MySqlStore({ client: server.pool(), table }).migrate(),
  );
  await Promise.all(migrations);
  const rows = await server.query(`select version from shop.${table}_migrations`);
  expect(rows).toEqual([{ version: 1 }]);
});

test('a replica waits for one that is migrating', async () => {
  const { table } = setup();
  const names: string[] = [];
  const pool = server.pool();
  const client = {
    async getConnection() {
      const connection = await pool.getConnection();
      const query = (statement: { readonly sql: string }) => {
        names.push(...(/get_lock\('([^']+)'/.exec(statement.sql)?.slice(1) ?? []));
        return connection.query(statement as never);
      };
      return Object.assign(Object.create(connection), { query });
    },
  };
  const store = new MySqlStore({ client, table });
  await store.migrate();
  await pool.query(`drop table ${table}, ${table}_migrations`);
  const migrating = await server.pool().getConnection();
  await migrating.query('select get_lock(?, 0)', names);
  let isDone = false;
  const again = store.migrate().then(() => {
    isDone = true;
  });
  await delay(500);
  expect(isDone).toBe(false);
  await migrating.query('select release_lock(?)', names.slice(0, 1));
  migrating.release();
  await again;
  expect(names).toHaveLength(2);
});

test('migrating again changes nothing', async () => {
  const { table, store } = setup();
  await store.migrate();
  const before = await shapeOf(table);
  await store.migrate();
  expect(await shapeOf(table)).toEqual(before);
});

test('a migration that was interrupted goes on when it is done again', async () => {
  const { table, store, claim } = setup();
  await store.migrate();
  await server.query(`delete from shop.${table}_migrations`);
  expect((await failureOf(store.check())).code).toBe('store_not_migrated');
  await store.migrate();
  await store.check();
  expect((await claim('A')).kind).toBe('new');
});

test('the exported SQL makes the very table that migrate makes', async () => {
  const { table, store } = setup();
  await store.migrate();
  const own = `${table}_by_hand`;
  const connection = await mysql.createConnection({
    ...server.address,
    multipleStatements: true,
  });
  for (const { sql } of mysqlMigrations({ table: own })) await connection.query(sql);
  await connection.end();
  expect(await shapeOf(own)).toEqual(await shapeOf(table));
  const byHand = new MySqlStore({ client: server.pool(), table: own });
  await byHand.migrate();
  expect((await callsOf(byHand).claim('A')).kind).toBe('new');
});

test('a table that a newer, breaking package has changed is refused', async () => {
  const { table, store } = setup();
  await store.migrate();
  const note = `insert into shop.${table}_migrations values`;
  await server.query(`${note} (2, 0, now())`);
  await store.migrate();
  await store.check();
  await server.query(`${note} (3, 1, now())`);
  for (const call of [store.migrate(), store.check()]) {
    const { code, message } = await failureOf(call);
    expect(code).toBe('store_not_migrated');
    expect(message).toContain('of version 3');
  }
});

test('no call makes a table but migrate', async () => {
  const { table, store, claim, complete, release } = setup();
  const calls = [claim('A'), complete('A'), release('A'), store.inspect('k'), store.check()];
  for (const call of calls) expect((await failureOf(call)).code).toBe('store_not_migrated');
  expect(await server.query('show tables from shop like ?', [`${table}%`])).toEqual([]);
});

test('a user who may only read and write rows can use the store, not migrate it', async () => {
  const { table, store } = setup();
  await store.migrate();
  const user = `clerk_${tables}`;
  await server.query(`create user ${user}@'%'`);
  for (const name of [table, `${table}_migrations`]) {
    await server.query(`grant select, insert, update, delete on shop.${name} to ${user}@'%'`);
  }
  const client = server.pool({ user });
  const clerk = new MySqlStore({ client, table });
  await clerk.migrate();
  await clerk.check();
  const calls = callsOf(clerk);
  expect((await calls.claim('A')).kind).toBe('new');
  await calls.complete('A');
  expect((await calls.claim('B')).kind).toBe('replay');
  const elsewhere = new MySqlStore({ client, table: `${table}_elsewhere` });
  expect((await failureOf(elsewhere.migrate())).code).toBe('database_unusable');
});

test('a pool that names no database is refused with a sentence', async () => {
  const { host, port, user } = server.address;
  const pool = mysql.createPool({ host, port, user });
  const store = new MySqlStore({ client: pool });
  const { code, message } = await failureOf(store.migrate());
  expect(code).toBe('database_unusable');
  expect(message).toContain('names no database');
  await pool.end();
});

test.each(['a`; drop table x; --', 'a b', '', '1a', 'ä', 'a'.repeat(53), 'a\0b', 'a.b'])(
  'the name %j is no table',
  (table) => {
    expect(() => new MySqlStore({ client: server.pool(), table })).toThrow('option `table`');
  },
);

test('long names, capitals and words of SQL are taken as they are', async () => {
  for (const table of ['T'.repeat(52), 'Select', 'user', '_']) {
    const store = new MySqlStore({ client: server.pool(), table });
    await store.migrate();
    expect((await callsOf(store).claim('A')).kind).toBe('new');
    await store.check();
    const found = await server.query('show tables from shop like ?', [`${table}_migrations`]);
    expect(found.length).toBeGreaterThan(0);
  }
});

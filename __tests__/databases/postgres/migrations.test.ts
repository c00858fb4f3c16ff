import { PostgresStore, postgresMigrations } from '../../../src/stores/postgres/index.ts';
import { callsOf, failureOf } from '../calls.ts';
import { PostgresServer } from '../servers/postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** A schema of its own for each test, which does not exist yet. */
function setup() {
  const pool = server.pool();
  schemas += 1;
  const schema = `Tenant_${schemas}`;
  const store = new PostgresStore({ client: pool, schema });
  return { pool, schema, store, ...callsOf(store) };
}

let schemas = 0;

/** What a table is, as PostgreSQL describes it. */
async function shapeOf(schema: string) {
  const columns = await server.query(
    `select column_name, data_type, is_nullable, column_default, collation_name
       from information_schema.columns where table_schema = $1
      order by table_name, ordinal_position`,
    [schema],
  );
  const indexes = await server.query(
    `select replace(indexdef, $1, 'schema') as definition from pg_indexes
      where schemaname = $1 order by 1`,
    [schema],
  );
  const options = await server.query(
    `select reloptions from pg_class where relnamespace = $1::regnamespace and relkind = 'r'
      order by relname`,
    [`"${schema}"`],
  );
  return { columns, indexes, options };
}

test.each(['read committed', 'serializable'])(
  'ten replicas that start at once on an empty database make one table, under %s',
  async (isolation) => {
    const { schema } = setup();
    const migrations = Array.from({ length: 10 }, () => {
      const pool = server.pool({
        options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`,
      });
      return new PostgresStore({ client: pool, schema }).migrate();
    });
    await Promise.all(migrations);
    const rows = await server.query(
      `select version from "${schema}".idempotency_records_migrations`,
    );
    expect(rows).toEqual([{ version: 1 }]);
  },
);

test('migrating again changes nothing, and prints nothing', async () => {
  const { schema } = setup();
  const notices: unknown[] = [];
  const client = server.sql({ onnotice: (notice) => notices.push(notice) });
  const store = new PostgresStore({ client, schema });
  await store.migrate();
  const before = await shapeOf(schema);
  await store.migrate();
  expect(await shapeOf(schema)).toEqual(before);
  expect(notices).toEqual([]);
});

test('the exported SQL makes the very table that migrate makes', async () => {
  const { schema, store } = setup();
  await store.migrate();
  const own = `${schema}_by_hand`;
  await server.query(`create schema "${own}"`);
  for (const { sql } of postgresMigrations({ schema: own })) await server.query(sql);
  expect(await shapeOf(own)).toEqual(await shapeOf(schema));
  const byHand = new PostgresStore({ client: server.pool(), schema: own });
  await byHand.migrate();
  expect((await callsOf(byHand).claim('A')).kind).toBe('new');
});

test('a table that a newer, breaking package has changed is refused', async () => {
  const { schema, store } = setup();
  await store.migrate();
  const note = `insert into "${schema}".idempotency_records_migrations values`;
  await server.query(`${note} (2, false)`);
  await store.migrate();
  await store.check();
  await server.query(`${note} (3, true)`);
  for (const call of [store.migrate(), store.check()]) {
    const { code, message } = await failureOf(call);
    expect(code).toBe('store_not_migrated');
    expect(message).toContain('of version 3');
  }
});

test('no call makes a table but migrate', async () => {
  const { schema, store, claim, complete, release } = setup();
  const calls = [claim('A'), complete('A'), release('A'), store.inspect('k'), store.check()];
  for (const call of calls) expect((await failureOf(call)).code).toBe('store_not_migrated');
  expect(await server.query('select to_regnamespace($1) as found', [`"${schema}"`])).toEqual([
    { found: null },
  ]);
});

test('a role that may only read and write rows can use the store, not migrate it', async () => {
  const { schema, store } = setup();
  await store.migrate();
  await server.query(`create role clerk_${schemas} login`);
  await server.query(`grant usage on schema "${schema}" to clerk_${schemas}`);
  await server.query(
    `grant select, insert, update, delete on all tables in schema "${schema}" to clerk_${schemas}`,
  );
  const client = server.pool({ user: `clerk_${schemas}` });
  const clerk = new PostgresStore({ client, schema });
  await clerk.migrate();
  expect((await callsOf(clerk).claim('A')).kind).toBe('new');
  const elsewhere = new PostgresStore({ client, schema: `${schema}_elsewhere` });
  expect((await failureOf(elsewhere.migrate())).code).toBe('database_unusable');
});

test.each(['a"; drop table x; --', 'a b', '', '1a', 'ä', 'a'.repeat(53), 'a\0b', 'a.b'])(
  'the name %j is no table',
  (table) => {
    expect(() => new PostgresStore({ client: server.pool(), table })).toThrow('option `table`');
  },
);

test('long names, capitals and words of SQL are taken as they are', async () => {
  const pool = server.pool();
  for (const table of ['T'.repeat(52), 'Select', 'user']) {
    const store = new PostgresStore({ client: pool, schema: 'Order', table });
    await store.migrate();
    expect((await callsOf(store).claim('A')).kind).toBe('new');
    const found = await pool.query('select to_regclass($1) as name', [
      `"Order"."${table}_migrations"`,
    ]);
    expect(found.rows[0]?.name).not.toBeNull();
  }
});

import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { failureOf } from '../calls.ts';
import { PostgresServer } from '../servers/postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** A store whose connections have settings of their own. */
async function setup(settings = '', more: { acceptDataLoss?: boolean } = {}) {
  const client = server.pool({ options: settings });
  tables += 1;
  const table = `records_${tables}`;
  const store = new PostgresStore({ client, table, ...more });
  await store.migrate();
  return { store, table };
}

let tables = 0;

test('the settings of a new server are durable, and check says what that means', async () => {
  const { store } = await setup();
  const found = await store.check();
  expect(found).toMatchObject({
    durable: true,
    fsync: true,
    synchronousCommit: 'on',
    synchronousStandbyNames: '',
    standby: false,
    unlogged: false,
  });
  expect(found.sentences.join(' ')).toContain('outlives a crash of this server');
  expect(found.sentences.join(' ')).toContain('a standby that takes over may never have had it');
});

test('synchronous_commit off is refused, with the way to mend it', async () => {
  const { store } = await setup('-c synchronous_commit=off');
  const { code, message } = await failureOf(store.check());
  expect(code).toBe('database_unusable');
  expect(message).toContain('SET synchronous_commit = on');
  expect(message).toContain('acceptDataLoss: true');
});

test('an unlogged table is refused', async () => {
  const { store, table } = await setup();
  await server.query(`alter table ${table} set unlogged`);
  expect((await failureOf(store.check())).message).toContain('UNLOGGED');
  await server.query(`alter table ${table} set logged`);
  expect((await store.check()).durable).toBe(true);
});

test('data loss that is accepted is warned of once, not at every check', async () => {
  const { store } = await setup('-c synchronous_commit=off', { acceptDataLoss: true });
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  expect((await store.check()).durable).toBe(false);
  await store.check();
  expect(warn.mock.calls.map(([warning]) => String(warning))).toEqual([
    expect.stringContaining('synchronous_commit is off'),
  ]);
  warn.mockRestore();
});

test('a connection that is read-only by default is refused, whatever is accepted', async () => {
  const { table } = await setup();
  const client = server.pool({ options: '-c default_transaction_read_only=on' });
  const store = new PostgresStore({ client, table, acceptDataLoss: true });
  expect((await failureOf(store.check())).code).toBe('store_read_only');
});

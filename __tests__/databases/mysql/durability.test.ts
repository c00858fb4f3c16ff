import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { failureOf } from '../calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { asMySql } from './as-mysql.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start({ 'log-bin': 'binlog', 'sync-binlog': '1' });
});
afterAll(() => server.stop());

/** A store on a server that has other settings until the test is over. */
async function setup(settings: Record<string, string> = {}, more: object = {}) {
  tables += 1;
  const table = `records_${tables}`;
  const store = new MySqlStore({ client: server.pool(), table, ...more });
  await store.migrate();
  const names = Object.keys(settings);
  for (const name of names) await server.query(`set global ${name} = ${settings[name]}`);
  const reset = async () => {
    for (const name of names) await server.query(`set global ${name} = default`);
    await server.query('set global sync_binlog = 1');
  };
  return { store, table, reset };
}

let tables = 0;

test('the settings of a new server are durable, and check says what that means', async () => {
  const { store } = await setup();
  const found = await store.check();
  expect(found).toMatchObject({
    durable: true,
    engine: 'InnoDB',
    flushLogAtTrxCommit: '1',
    logBin: true,
    syncBinlog: '1',
    doublewrite: 'ON',
    semiSync: false,
    readOnly: false,
    isolation: 'REPEATABLE-READ',
  });
  expect(found.serverVersion).toContain('MariaDB');
  expect(found.sentences.join(' ')).toContain('outlives a crash of this server');
  expect(found.sentences.join(' ')).toContain('a replica that takes over may never have had it');
});

test.each([
  [{ innodb_flush_log_at_trx_commit: '0' }, 'a crash of the server loses'],
  [{ innodb_flush_log_at_trx_commit: '2' }, 'a power cut loses'],
  [{ sync_binlog: '0' }, 'after a power cut InnoDB rolls back'],
])('%j is refused, with the way to mend it', async (settings, said) => {
  const { store, reset } = await setup(settings);
  const { code, message } = await failureOf(store.check());
  await reset();
  expect(code).toBe('database_unusable');
  expect(message).toContain(said);
  expect(message).toContain('Set it to 1.');
  expect(message).toContain('acceptDataLoss: true');
});

test('a log that is flushed more often than that is durable, too', async () => {
  const { store, reset } = await setup({ innodb_flush_log_at_trx_commit: '3' });
  expect((await store.check()).durable).toBe(true);
  await reset();
});

test('a table of another engine is refused', async () => {
  const { store, table } = await setup();
  await server.query(`alter table shop.${table} row_format = default, engine = Aria`);
  expect((await failureOf(store.check())).message).toContain('ENGINE = InnoDB');
  await server.query(`alter table shop.${table} engine = InnoDB`);
  expect((await store.check()).durable).toBe(true);
});

test('semi-synchronous replication is named, with what its time-out means', async () => {
  const { store, reset } = await setup({ rpl_semi_sync_master_enabled: '1' });
  const { semiSync, sentences } = await store.check();
  await reset();
  expect(semiSync).toBe(true);
  expect(sentences.join(' ')).toContain('no longer than the time-out');
});

test('data loss that is accepted is warned of once, not at every check', async () => {
  const settings = { innodb_flush_log_at_trx_commit: '0' };
  const { store, reset } = await setup(settings, { acceptDataLoss: true });
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  expect((await store.check()).durable).toBe(false);
  await store.check();
  await reset();
  expect(warn.mock.calls.map(([warning]) => String(warning))).toEqual([
    expect.stringContaining('innodb_flush_log_at_trx_commit is 0'),
  ]);
  warn.mockRestore();
});

test('a server that takes no writes is refused, whatever is accepted', async () => {
  const { store, reset } = await setup({ read_only: '1' }, { acceptDataLoss: true });
  expect((await failureOf(store.check())).code).toBe('store_read_only');
  await reset();
  expect((await store.check()).readOnly).toBe(false);
});

test('transactions that are read-only by default are refused', async () => {
  const { table } = await setup();
  await server.query('set global tx_read_only = 1');
  const store = new MySqlStore({ client: server.pool(), table, acceptDataLoss: true });
  const failure = await failureOf(store.check());
  await server.query('set global tx_read_only = 0');
  expect(failure.code).toBe('store_read_only');
});

test('check names the wait for locks that MySQL does not limit by itself', async () => {
  const { store, table } = await setup();
  expect((await store.check()).sentences.join(' ')).not.toContain('innodb_lock_wait_timeout');
  const check = async (timeout: string) => {
    const pool = server.pool();
    const first = await pool.getConnection();
    await first.query(`set innodb_lock_wait_timeout = ${timeout}`);
    first.release();
    const { sentences } = await new MySqlStore({ client: asMySql(pool), table }).check();
    return sentences.join(' ');
  };
  expect(await check('50')).toContain('innodb_lock_wait_timeout is 50 seconds');
  expect(await check('5')).not.toContain('innodb_lock_wait_timeout');
});

import { recordReference, showRecord } from '../../../src/operator/index.ts';
import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { CommandFolder } from '../../operator/command-folder.ts';
import { jsonLines } from '../../operator/command-process.ts';
import { describeOperator } from '../../operator/describe-operator.ts';
import { leavePending } from '../../operator/left-pending.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { freePort } from '../servers/server-process.ts';
import { PostgresAccess, postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

const LEFT = { tenant: 'acme', operation: 'POST /labels', key: 'label-req-7' };
const SECRET = 's3cret';

async function setup(driver: 'pg' | 'postgres') {
  const pool = server.pool();
  const names = { schema: 'operators', table: `records_of_${driver}` };
  const store = new PostgresStore({ client: pool, ...names });
  await store.migrate();
  const url = server.url.replace('@', `:${SECRET}@`);
  const folder = new CommandFolder({ [driver]: driver });
  const named = ['--schema', names.schema, '--table', names.table];
  const run = (args: string[], IDEMPOTENCY_STORE = url) =>
    folder.spawn([...args, ...named], { env: { IDEMPOTENCY_STORE } });
  return { store, folder, url, run };
}

describeOperator('an operator of PostgresStore', async (clock) => {
  const pool = server.pool();
  const access = new PostgresAccess(pool, () => pool);
  const { makeStore, close } = await postgresDatabase(access, clock);
  return { store: await makeStore(), close };
});

test.each(['pg', 'postgres'] as const)('the command line settles through %s', async (driver) => {
  const { store, folder, run } = await setup(driver);
  const recordKey = await leavePending(store, { ...LEFT, leaseMs: 600_000 });
  const reference = recordReference(recordKey);
  expect(jsonLines(await run(['pending', '--json']))).toMatchObject([{ ...LEFT, reference }]);
  const settling = ['settle', reference, '--unknown', '--reason', 'nobody knows'];
  expect(await run(settling)).toMatchObject({ code: 1, stdout: '' });
  expect(await run([...settling, '--force'])).toMatchObject({ code: 0, stderr: '' });
  expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 409 } });
  expect((await run(['show', reference, '--body'])).stdout).toContain('outcome_unknown');
  expect((await run(['prune'])).stdout).toBe('0 records were pruned.\n');
  folder.remove();
});

test.each(['pg', 'postgres'] as const)(
  'what goes wrong with %s is said without the password',
  async (driver) => {
    const { folder, url, run } = await setup(driver);
    const elsewhere = [
      url.replace(String(server.port), String(await freePort())),
      url.replace(/postgres$/, 'none'),
      url.replace(/postgres$/, `none?password=${SECRET}`),
      url.replace('//', '//nobody'),
    ];
    for (const address of elsewhere) {
      const { code, stdout, stderr } = await run(['pending'], address);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^express-idempotent: \S/);
      expect(stderr).not.toContain(SECRET);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
    folder.remove();
  },
);

test('a table that was not made is said to be missing, and is not made', async () => {
  const { folder, url } = await setup('pg');
  for (const table of ['another', 'another']) {
    const pending = ['pending', '--table', table];
    const { code, stderr } = await folder.spawn(pending, { env: { IDEMPOTENCY_STORE: url } });
    expect([code, stderr]).toEqual([1, expect.stringContaining('store.migrate()')]);
  }
  folder.remove();
});

import { recordReference, showRecord } from '../../../src/operator/index.ts';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { CommandFolder } from '../../operator/command-folder.ts';
import { jsonLines } from '../../operator/command-process.ts';
import { describeOperator } from '../../operator/describe-operator.ts';
import { leavePending } from '../../operator/left-pending.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { freePort } from '../servers/server-process.ts';
import { MySqlAccess, mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

const LEFT = { tenant: 'acme', operation: 'POST /labels', key: 'label-req-7' };
const SECRET = 's3cret';

async function setup() {
  const table = 'operators';
  const store = new MySqlStore({ client: server.pool(), table });
  await store.migrate();
  const folder = new CommandFolder({ mysql2: 'mysql2' });
  const run = (args: string[], IDEMPOTENCY_STORE = server.url) =>
    folder.spawn([...args, '--table', table], { env: { IDEMPOTENCY_STORE } });
  return { store, folder, run };
}

describeOperator('an operator of MySqlStore', async (clock) => {
  const access = new MySqlAccess(server.pool(), () => server.pool());
  const { makeStore, close } = await mysqlDatabase(access, clock);
  return { store: await makeStore(), close };
});

test('the command line settles through mysql2', async () => {
  const { store, folder, run } = await setup();
  const recordKey = await leavePending(store, { ...LEFT, leaseMs: 600_000 });
  const reference = recordReference(recordKey);
  expect(jsonLines(await run(['pending', '--json']))).toMatchObject([{ ...LEFT, reference }]);
  const settling = ['settle', reference, '--unknown', '--reason', 'nobody knows'];
  expect(await run(settling)).toMatchObject({ code: 1, stdout: '' });
  expect(await run([...settling, '--force'])).toMatchObject({ code: 0, stderr: '' });
  expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 409 } });
  const shown = await run(['show', reference, '--body'], server.url.replace('mysql:', 'mariadb:'));
  expect(shown.stdout).toContain('outcome_unknown');
  expect((await run(['prune'])).stdout).toBe('0 records were pruned.\n');
  folder.remove();
});

test('what goes wrong with mysql2 is said without the password', async () => {
  const { folder, run } = await setup();
  const secret = server.url.replace('@', `:${SECRET}@`);
  for (const address of [secret, secret.replace(String(server.port), String(await freePort()))]) {
    const { code, stdout, stderr } = await run(['pending'], address);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^express-idempotent: \S/);
    expect(stderr).not.toContain(SECRET);
    expect(stderr).not.toMatch(/^\s+at /m);
  }
  folder.remove();
});

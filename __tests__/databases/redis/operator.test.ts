import { recordReference, showRecord } from '../../../src/operator/index.ts';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { CommandFolder } from '../../operator/command-folder.ts';
import { jsonLines } from '../../operator/command-process.ts';
import { describeOperator } from '../../operator/describe-operator.ts';
import { leavePending } from '../../operator/left-pending.ts';
import { RedisServer } from '../servers/redis.ts';
import { freePort } from '../servers/server-process.ts';
import { redisDatabase } from './redis-database.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const LEFT = { tenant: 'acme', operation: 'POST /labels', key: 'label-req-7' };
const SECRET = 's3cret';

function setup(driver: 'ioredis' | 'redis') {
  const prefix = `${driver}:`;
  const store = new RedisStore({ client: server.ioredis(), prefix });
  const url = `redis://127.0.0.1:${server.port}`;
  const folder = new CommandFolder({ [driver]: driver });
  const run = (args: string[], IDEMPOTENCY_STORE = url) =>
    folder.spawn([...args, '--prefix', prefix], { env: { IDEMPOTENCY_STORE } });
  return { store, folder, url, run };
}

describeOperator('an operator of RedisStore', async (clock) => {
  const newClient = async () => server.ioredis();
  const { makeStore, close } = await redisDatabase(
    { newClient, primaries: [server.ioredis()] },
    clock,
  );
  return { store: await makeStore(), close };
});

test.each(['ioredis', 'redis'] as const)('the command line settles through %s', async (driver) => {
  const { store, folder, run } = setup(driver);
  const recordKey = await leavePending(store, { ...LEFT, leaseMs: 600_000 });
  const reference = recordReference(recordKey);
  expect(jsonLines(await run(['pending', '--json']))).toMatchObject([{ ...LEFT, reference }]);
  const settling = ['settle', reference, '--unknown', '--reason', 'nobody knows'];
  expect(await run(settling)).toMatchObject({ code: 1, stdout: '' });
  expect(await run([...settling, '--force'])).toMatchObject({ code: 0, stderr: '' });
  expect(await showRecord(store, LEFT)).toMatchObject({ response: { status: 409 } });
  expect((await run(['show', reference, '--body'])).stdout).toContain('outcome_unknown');
  folder.remove();
});

test.each(['ioredis', 'redis'] as const)(
  'what goes wrong with %s is said without the password',
  async (driver) => {
    const { folder, url, run } = setup(driver);
    const secret = url.replace('://', `://nobody:${SECRET}@`);
    const elsewhere = [secret.replace(String(server.port), String(await freePort())), secret];
    for (const address of elsewhere) {
      const { code, stdout, stderr } = await run(['pending'], address);
      expect(stderr).not.toContain(SECRET);
      expect(stderr).not.toMatch(/^\s+at /m);
      expect([code, stdout]).toEqual([1, '']);
    }
    folder.remove();
  },
);

test('prune says that there is nothing to prune on Redis', async () => {
  const { folder, run } = setup('ioredis');
  const { code, stderr } = await run(['prune']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('RedisStore has no prune')]);
  folder.remove();
});

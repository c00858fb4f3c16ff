import { RedisStore } from '../../../src/stores/redis/index.ts';
import { failureOf } from '../calls.ts';
import { DURABLE, RedisServer, type RedisSettings } from '../servers/redis.ts';
import { callsOf } from './calls.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const EVICTING = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-ttl'];

async function setup(settings: RedisSettings = {}, options: { acceptDataLoss?: boolean } = {}) {
  const direct = server.ioredis();
  for (const [name, value] of Object.entries({
    ...DURABLE,
    'maxmemory-policy': 'noeviction',
    ...settings,
  })) {
    await direct.config('SET', name, value);
  }
  const store = new RedisStore({ client: server.ioredis(), ...options });
  return { direct, store, ...callsOf(store) };
}

/** The warnings that came while `run` did. */
async function warningsOf(run: () => Promise<unknown>): Promise<string[]> {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  await run();
  const warnings = warn.mock.calls.map(([warning]) => String(warning));
  warn.mockRestore();
  return warnings;
}

test('AOF with appendfsync always is called durable', async () => {
  const { store } = await setup();
  const { durable, sentences, servers } = await store.check();
  expect(durable).toBe(true);
  expect(sentences).toEqual([
    'An acknowledged record is on the disk of its server (appendfsync always).',
  ]);
  expect(servers).toMatchObject([
    { appendonly: true, appendfsync: 'always', maxmemoryPolicy: 'noeviction', version: '7.0.15' },
  ]);
});

test.each([
  ['appendonly', 'no', /crash of the server forgets/],
  ['appendfsync', 'everysec', /a power cut the last second or two/],
  ['appendfsync', 'no', /a power cut the last half a minute/],
])('%s %s is no refusal, but not durable, and is warned of once', async (name, value, said) => {
  const { store } = await setup({ [name]: value });
  const warnings = await warningsOf(async () => {
    const { durable, sentences } = await store.check();
    expect(durable).toBe(false);
    expect(sentences[0]).toMatch(said);
    await store.check();
  });
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(said);
});

test.each(EVICTING)(
  'maxmemory-policy %s is refused by check, and by every claim',
  async (policy) => {
    const { direct, store, claim } = await setup({ 'maxmemory-policy': policy });
    const { code, message } = await failureOf(store.check());
    expect(code).toBe('database_unusable');
    expect(message).toContain(policy);
    expect((await failureOf(claim('A'))).code).toBe('database_unusable');
    expect((await failureOf(claim('A'))).code).toBe('database_unusable');
    await direct.config('SET', 'maxmemory-policy', 'noeviction');
    expect((await claim('A', { key: policy })).kind).toBe('new');
  },
);

test('eviction that is accepted works, and is warned of', async () => {
  const { store, claim } = await setup(
    { 'maxmemory-policy': 'volatile-lfu' },
    { acceptDataLoss: true },
  );
  const warnings = await warningsOf(() => claim('A', { key: 'accepted' }));
  expect(warnings[0]).toMatch(/volatile-lfu/);
  expect((await store.check()).durable).toBe(false);
});

test('where CONFIG is closed INFO tells the policy; where both are, that is said', async () => {
  const { direct } = await setup({ 'maxmemory-policy': 'allkeys-lru' });
  const commands = ['+@all', '-config'];
  await direct.acl('SETUSER', 'managed', 'on', '>secret', '~*', '&*', ...commands);
  await direct.acl('SETUSER', 'closed', 'on', '>secret', '~*', '&*', ...commands, '-info');
  const storeOf = (username: string) => {
    const options = { username, password: 'secret', enableReadyCheck: false };
    return new RedisStore({ client: server.ioredis(options) });
  };
  expect((await failureOf(storeOf('managed').check())).message).toMatch(/allkeys-lru/);
  const { durable, sentences } = await storeOf('closed').check();
  expect(durable).toBe(false);
  expect(sentences[0]).toMatch(/does not tell its settings/);
});

test('the commands that the documentation names are enough', async () => {
  const { direct } = await setup();
  await direct.acl('SETUSER', 'app', 'reset', 'on', '>secret', '~idempotent:*', ...DOCUMENTED);
  const client = server.ioredis({ username: 'app', password: 'secret' });
  const store = new RedisStore({ client });
  const { claim, complete, release } = callsOf(store);
  expect((await store.check()).durable).toBe(true);
  expect(await claim('A', { key: 'acl' })).toEqual({ kind: 'new', attempt: 1 });
  await complete('A', { key: 'acl' });
  await release('A', { key: 'acl' });
  expect((await claim('B', { key: 'acl' })).kind).toBe('replay');
  expect((await store.list()).records).not.toEqual([]);
  const { code, message } = await failureOf(claimElsewhere(client));
  expect(code).toBe('store_failed');
  expect(message).toMatch(/the Redis user may not run this/);
});

/** As in docs/stores/redis.md. */
const DOCUMENTED = [
  ...['+evalsha', '+eval', '+get', '+set', '+del', '+exists', '+pexpireat', '+pexpiretime'],
  ...['+time', '+wait', '+scan', '+info', '+config|get'],
];

function claimElsewhere(client: ConstructorParameters<typeof RedisStore>[0]['client']) {
  return callsOf(new RedisStore({ client, prefix: 'elsewhere:' })).claim('A');
}

test('a replica is refused, by check and by claims of a store that checked before', async () => {
  const { direct, store, claim } = await setup();
  const primary = await RedisServer.start();
  await claim('A', { key: 'before' });
  await direct.replicaof('127.0.0.1', primary.port);
  expect((await failureOf(store.check())).code).toBe('store_read_only');
  expect((await failureOf(claim('A', { key: 'before' }))).code).toBe('store_read_only');
  expect((await failureOf(claim('A', { key: 'after' }))).code).toBe('store_read_only');
  await direct.replicaof('NO', 'ONE');
  await primary.stop();
});

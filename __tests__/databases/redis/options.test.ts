import { createSentinel } from 'redis';
import { RedisStore, type RedisStoreOptions } from '../../../src/stores/redis/index.ts';
import { attemptOf, failureOf, within } from '../calls.ts';
import { RedisServer } from '../servers/redis.ts';
import { callsOf, keysOf } from './calls.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

async function setup() {
  const client = server.ioredis();
  await client.flushall();
  return { client };
}

test('a client that is none, or of an unknown kind, is refused with what is expected', async () => {
  const sentinel = createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'h', port: 1 }] });
  const unusable: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /got undefined/],
    [null, /got null/],
    [{}, /got object/],
    ['redis://localhost', /got a string/],
    [{ sendCommand() {} }, /node-redis 4 or older/],
    [sentinel, /Sentinel client of node-redis/],
  ];
  for (const [client, said] of unusable) {
    const options = { client } as unknown as RedisStoreOptions;
    expect(() => new RedisStore(options)).toThrow(said);
  }
});

test.each([
  [
    { prefix: 'a{b}' },
    'option `prefix` of RedisStore to be a string of up to 100 characters without braces',
  ],
  [{ waitReplicas: -1 }, 'option `waitReplicas` of RedisStore to be a whole number from 0 to 100'],
  [
    { waitReplicasTimeoutMs: 0 },
    'option `waitReplicasTimeoutMs` of RedisStore to be a whole number',
  ],
  [{ seal: {} }, 'option `seal` of RedisStore to be an object with the functions seal and open'],
  [{ acceptDataLoss: 'yes' }, 'option `acceptDataLoss` of RedisStore to be true or false'],
  [{ resultRetentionMs: 0 }, 'option `resultRetentionMs` of RedisStore to be a whole number'],
  [{ prefixx: 'a' }, 'got `prefixx`. Did you mean `prefix`? Known are '],
])('the options %j are refused', async (options, said) => {
  const { client } = await setup();
  const all = { client, ...options } as unknown as RedisStoreOptions;
  expect(() => new RedisStore(all)).toThrow(said);
});

test('two prefixes are two stores, and each lists its own', async () => {
  const { client } = await setup();
  const one = new RedisStore({ client, prefix: 'shop[1]*:' });
  const two = new RedisStore({ client, prefix: '' });
  expect((await callsOf(one).claim('A')).kind).toBe('new');
  expect((await callsOf(two).claim('A')).kind).toBe('new');
  expect((await callsOf(two).claim('A', { key: 'more' })).kind).toBe('new');
  expect((await one.list({ state: 'pending' })).records).toHaveLength(1);
  expect((await two.list({ state: 'pending' })).records).toHaveLength(2);
});

test('the client that was lent is as it was, and goes on', async () => {
  const { client } = await setup();
  const before = Object.keys(client).sort();
  const { claim, complete } = callsOf(new RedisStore({ client }));
  await claim('A');
  await complete('A');
  expect(Object.keys(client).sort()).toEqual(before);
  expect(await client.ping()).toBe('PONG');
});

test('an error holds no key, no owner and no byte of a body, nor does its cause', async () => {
  const { client } = await setup();
  const store = new RedisStore({ client });
  await callsOf(store).claim('warm', { key: 'warm' });
  const secret = 'secret-key';
  await client.hset(keysOf(secret).state, 'a', '1');
  await client.acl('SETUSER', 'mute', 'on', '>secret', '~*', '+@all', '-set', '-evalsha', '-eval');
  const mute = server.ioredis({ username: 'mute', password: 'secret' });
  const refused = new RedisStore({ client: mute, acceptDataLoss: true });
  const body = Buffer.from('secret-body');
  const response = { kept: true, status: 200, headers: [], removedNames: [], body } as const;
  const context = attemptOf('secret-owner', { key: secret, tenant: 'secret-tenant' });
  for (const each of [store, refused]) {
    const calls = [
      () => each.claim(secret, 'secret-fingerprint', context, within()),
      () => each.complete(secret, response, context, within()),
      () => each.release(secret, context, within()),
    ];
    for (const call of calls) {
      const { message, cause, ...error } = await failureOf(call());
      const said = JSON.stringify([message, error, String(cause), { ...(cause as object) }]);
      expect(said).not.toContain('secret-');
      expect(cause).toBeDefined();
    }
  }
});

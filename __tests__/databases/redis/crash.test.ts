import { RedisStore } from '../../../src/stores/redis/index.ts';
import { crashUnderLoad } from '../crash-load.ts';
import { DURABLE, RedisServer, type RedisSettings } from '../servers/redis.ts';
import { callsOf } from './calls.ts';

/** A server of its own, which the test may kill, and a store on it. */
async function setup(settings: RedisSettings) {
  const server = await RedisServer.start(settings);
  const client = server.ioredis({ maxRetriesPerRequest: 0 });
  const store = new RedisStore({ client, acceptDataLoss: true });
  return { server, store, ...callsOf(store) };
}

/** The same calls under load, of a server that is killed meanwhile. */
async function crash(settings: RedisSettings) {
  const { server, claim, complete } = await setup(settings);
  // Made on the server that has come back: the client of the load gives up at once.
  let after: RedisStore | undefined;
  return crashUnderLoad({
    server,
    claim: (key) => claim(key, { key, timeoutMs: 2_000 }),
    complete: (key) => complete(key, { key, timeoutMs: 2_000 }),
    inspect: (key) => {
      after ??= new RedisStore({ client: server.ioredis() });
      return after.inspect(key);
    },
  });
}

test.each(['always', 'everysec'])(
  'with appendfsync %s nothing acknowledged is lost when the server is killed under load',
  async (appendfsync) => {
    const { acknowledged, lost } = await crash({ appendonly: 'yes', appendfsync });
    expect(acknowledged).toBeGreaterThan(50);
    expect(lost).toBe(0);
  },
);

test('without AOF everything is lost: the test before can fail', async () => {
  const { acknowledged, lost } = await crash({ appendonly: 'no' });
  expect(acknowledged).toBeGreaterThan(50);
  expect(lost).toBe(acknowledged);
});

test('a server that is killed between two calls of an attempt answers the second one', async () => {
  const { server, claim, complete } = await setup(DURABLE);
  expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
  await server.kill();
  await expect(complete('A', { timeoutMs: 500 })).rejects.toThrow('complete: Redis');
  await server.restart();
  await complete('A');
  expect((await claim('B')).kind).toBe('replay');
  await server.stop();
});

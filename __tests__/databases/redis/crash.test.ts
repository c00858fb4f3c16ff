import { setTimeout as delay } from 'node:timers/promises';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { DURABLE, RedisServer, type RedisSettings } from '../servers/redis.ts';
import { callsOf } from './calls.ts';

/** A server of its own, which the test may kill, and a store on it. */
async function setup(settings: RedisSettings) {
  const server = await RedisServer.start(settings);
  const client = server.ioredis({ maxRetriesPerRequest: 0 });
  const store = new RedisStore({ client, acceptDataLoss: true });
  return { server, store, ...callsOf(store) };
}

type Acknowledged = Map<string, 'claimed' | 'completed'>;

/** Claims and completes new keys without a pause until the server is gone. */
async function load(
  { claim, complete }: Pick<Awaited<ReturnType<typeof setup>>, 'claim' | 'complete'>,
  worker: number,
  acknowledged: Acknowledged,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    const key = `${worker}.${n}`;
    try {
      await claim(key, { key, timeoutMs: 2_000 });
      acknowledged.set(key, 'claimed');
      if (n % 3 === 0) continue;
      await complete(key, { key, timeoutMs: 2_000 });
      acknowledged.set(key, 'completed');
    } catch {
      return;
    }
  }
}

/** Kills the server under load, starts it again, and counts what it has forgotten. */
async function crashUnderLoad(settings: RedisSettings) {
  const { server, claim, complete } = await setup(settings);
  const acknowledged: Acknowledged = new Map();
  const workers = Array.from({ length: 16 }, (_, worker) =>
    load({ claim, complete }, worker, acknowledged),
  );
  await delay(700);
  await server.kill();
  await Promise.all(workers);
  await server.restart();
  const after = new RedisStore({ client: server.ioredis() });
  const isLost = async ([key, state]: [string, string]) => {
    const found = await after.inspect(key);
    return found?.owner !== key || (state === 'completed' && found.state !== 'completed');
  };
  const lost = await Promise.all([...acknowledged].map(isLost));
  await server.stop();
  return { acknowledged: acknowledged.size, lost: lost.filter((each) => each).length };
}

test.each(['always', 'everysec'])(
  'with appendfsync %s nothing acknowledged is lost when the server is killed under load',
  async (appendfsync) => {
    const { acknowledged, lost } = await crashUnderLoad({ appendonly: 'yes', appendfsync });
    expect(acknowledged).toBeGreaterThan(50);
    expect(lost).toBe(0);
  },
);

test('without AOF everything is lost: the test before can fail', async () => {
  const { acknowledged, lost } = await crashUnderLoad({ appendonly: 'no' });
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

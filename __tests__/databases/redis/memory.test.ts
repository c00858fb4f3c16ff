import type { Redis } from 'ioredis';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { failureOf } from '../calls.ts';
import { RedisServer } from '../servers/redis.ts';
import { callsOf, keysOf } from './calls.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** An empty database with as much memory as it likes. */
async function setup(driver: 'ioredis' | 'node-redis' = 'ioredis') {
  const direct = server.ioredis();
  await direct.flushall();
  await direct.config('SET', 'maxmemory', '0');
  const client = driver === 'ioredis' ? server.ioredis() : await server.nodeRedis();
  const store = new RedisStore({ client });
  return { direct, store, ...callsOf(store) };
}

/** From here on there is less memory than is used already. */
async function endMemory(direct: Redis): Promise<void> {
  await direct.config('SET', 'maxmemory', '1mb');
}

describe.each(['ioredis', 'node-redis'] as const)('without memory, on %s', (driver) => {
  test('a new key is refused, and none is made', async () => {
    const { direct, store, claim } = await setup(driver);
    await claim('warm', { key: 'warm' });
    await endMemory(direct);
    expect((await failureOf(claim('A'))).code).toBe('store_full');
    expect(await store.inspect('k')).toBeUndefined();
  });

  test('what was begun is completed, renewed, taken over and released', async () => {
    const { direct, store, claim, complete, release } = await setup(driver);
    await claim('A');
    await claim('A', { key: 'freed' });
    await endMemory(direct);
    const big = Buffer.alloc(100_000, 1);
    const response = { kept: true, status: 201, headers: [], removedNames: [], body: big } as const;
    await complete('A', { response });
    await release('A', { key: 'freed' });
    expect((await store.inspect('k'))?.response).toEqual(response);
    expect(await store.inspect('freed')).toBeUndefined();
  });

  test('a key that is there is answered as ever', async () => {
    const { direct, claim, complete } = await setup(driver);
    for (const key of ['pending', 'done', 'other']) await claim('A', { key });
    await complete('A', { key: 'done' });
    await endMemory(direct);
    expect(await claim('B', { key: 'pending' })).toEqual({ kind: 'pending' });
    expect(await claim('A', { key: 'pending' })).toEqual({ kind: 'new', attempt: 1 });
    expect((await claim('B', { key: 'done' })).kind).toBe('replay');
    const conflict = await claim('B', { key: 'other', fingerprint: 'another' });
    expect(conflict).toEqual({ kind: 'conflict' });
  });

  test('of many claims at once those of new keys are refused, others answered', async () => {
    const { direct, claim, complete } = await setup(driver);
    for (let n = 0; n < 20; n += 2) await claim('A', { key: `key ${n}` });
    for (let n = 0; n < 20; n += 4) await complete('A', { key: `key ${n}` });
    await endMemory(direct);
    const asked = Array.from({ length: 20 }, (_, n) =>
      claim('B', { key: `key ${n}` }).then(
        ({ kind }) => kind,
        ({ code }) => code,
      ),
    );
    const expected = Array.from({ length: 20 }, (_, n) =>
      n % 2 === 1 ? 'store_full' : n % 4 === 0 ? 'replay' : 'pending',
    );
    expect(await Promise.all(asked)).toEqual(expected);
  });
});

test('a key that something else wrote is refused, and those beside it are not', async () => {
  const { direct, store, claim, complete, release } = await setup();
  await direct.hset(keysOf('odd').state, 'a', '1');
  await direct.set(keysOf('text').state, 'not a record');
  const keys = ['one', 'odd', 'two', 'text', 'three'];
  const asked = keys.map((key) =>
    claim('A', { key }).then(
      ({ kind }) => kind,
      ({ code }) => code,
    ),
  );
  const answers = ['new', 'record_corrupt', 'new', 'record_corrupt', 'new'];
  expect(await Promise.all(asked)).toEqual(answers);
  expect((await failureOf(complete('A', { key: 'text' }))).code).toBe('record_corrupt');
  expect((await failureOf(release('A', { key: 'text' }))).code).toBe('record_corrupt');
  expect((await failureOf(store.inspect('text'))).code).toBe('record_corrupt');
  expect((await store.list({ state: 'pending' })).records).toHaveLength(3);
});

import { setTimeout as delay } from 'node:timers/promises';
import { aesGcmSeal, RedisStore, type RedisStoreOptions } from '../../../src/stores/redis/index.ts';
import { attemptOf, failureOf, RESPONSE } from '../calls.ts';
import { RedisServer } from '../servers/redis.ts';
import { callsOf, keysOf } from './calls.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const DAY_MS = 24 * 3_600_000;

async function setup(options: Omit<RedisStoreOptions, 'client'> = {}) {
  const direct = server.ioredis();
  await direct.flushall();
  const store = new RedisStore({ client: direct, ...options });
  const { state, body } = keysOf();
  return { direct, store, state, body, ...callsOf(store) };
}

test('a pending record never ends; a result is kept for a day, and its key for 31', async () => {
  const { direct, state, body, claim, complete } = await setup();
  await claim('A');
  expect(await direct.pttl(state)).toBe(-1);
  expect(await direct.exists(body)).toBe(0);
  await complete('A');
  const [bodyMs, stateMs] = [await direct.pttl(body), await direct.pttl(state)];
  expect(bodyMs).toBeGreaterThan(DAY_MS - 10_000);
  expect(bodyMs).toBeLessThanOrEqual(DAY_MS);
  expect(stateMs).toBeGreaterThan(31 * DAY_MS - 10_000);
  expect(stateMs).toBeLessThanOrEqual(31 * DAY_MS);
});

test('a re-sent complete does not make a result live longer', async () => {
  const { direct, state, body, claim, complete } = await setup();
  await claim('A');
  await complete('A');
  for (const key of [state, body]) await direct.pexpire(key, 5_000);
  await complete('A');
  for (const key of [state, body]) expect(await direct.pttl(key)).toBeLessThanOrEqual(5_000);
});

test('a result ends, later its tombstone, and the key is new, by the clock of Redis', async () => {
  const { claim, complete, store } = await setup({
    resultRetentionMs: 700,
    tombstoneRetentionMs: 1_500,
  });
  await claim('A');
  await complete('A');
  const kinds: string[] = [];
  const endMs = performance.now() + 20_000;
  while (kinds.at(-1) !== 'new' && performance.now() < endMs) {
    const { kind } = await claim(`asks ${kinds.length}`);
    if (kind !== kinds.at(-1)) kinds.push(kind);
    await delay(50);
  }
  expect(kinds).toEqual(['replay', 'expired', 'new']);
  expect((await store.inspect('k'))?.state).toBe('pending');
});

test('a body that has gone, by whatever, is expired and never new', async () => {
  const { direct, body, claim, complete, store } = await setup();
  await claim('A');
  await complete('A');
  await direct.del(body);
  expect(await claim('B')).toEqual({ kind: 'expired' });
  expect(await claim('A')).toEqual({ kind: 'expired' });
  expect(await claim('B', { fingerprint: 'another' })).toEqual({ kind: 'conflict' });
  expect((await store.inspect('k'))?.state).toBe('tombstone');
  await complete('A');
  expect((await failureOf(complete('B'))).code).toBe('fenced');
});

test('a record is two keys of one hash slot, and tells an operator what it is for', async () => {
  const { direct, state, body, store } = await setup();
  const context = attemptOf('A', { tenant: 'tenänt', operation: 'POST /labels' });
  const call = { signal: new AbortController().signal, timeoutMs: 10_000 };
  await store.claim('k', 'f', context, call);
  await store.complete('k', RESPONSE, context, call);
  expect((await direct.keys('*')).sort()).toEqual([body, state]);
  expect(/\{(.*)\}/.exec(state)?.[1]).toBe(/\{(.*)\}/.exec(body)?.[1]);
  const text = await direct.get(state);
  expect(text).toMatch(/^1C 1 \d{13} 0 \d{13} 1:A1:f1:k7:tenänt12:POST \/labels$/);
  const { records } = await store.list();
  expect(records).toMatchObject([{ key: 'k', tenant: 'tenänt', operation: 'POST /labels' }]);
});

describe('with a seal', () => {
  const keys = { old: Buffer.alloc(32, 1), new: Buffer.alloc(32, 2) };
  const seal = aesGcmSeal({ keys, sealWith: 'old' });

  test('nothing of the response is readable in Redis, and the replay is the same', async () => {
    const { direct, body, claim, complete } = await setup({ seal });
    await claim('A');
    await complete('A');
    expect(await direct.get(body)).not.toMatch(/label-901|Content-Type|201/);
    expect(await claim('B')).toEqual({ kind: 'replay', response: RESPONSE });
  });

  test('the key that seals can be changed while old results live', async () => {
    const { direct, claim, complete } = await setup({ seal });
    await claim('A');
    await complete('A');
    const rotated = new RedisStore({
      client: direct,
      seal: aesGcmSeal({ keys, sealWith: 'new' }),
    });
    expect((await callsOf(rotated).claim('B')).kind).toBe('replay');
  });

  test('a response that was changed, moved, or is not sealed is refused, and kept', async () => {
    const { direct, body, claim, complete } = await setup({ seal });
    for (const key of ['k', 'other']) {
      await claim('A', { key });
      await complete('A', { key });
    }
    const sealed = (await direct.getBuffer(body)) ?? Buffer.alloc(0);
    const changed = Buffer.from(sealed);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const moved = await direct.getBuffer(keysOf('other').body);
    const plain = Buffer.from([1, 0, 0, 0, 2, 123, 125]);
    for (const bytes of [changed, moved ?? '', plain, '']) {
      await direct.set(body, bytes, 'KEEPTTL');
      expect((await failureOf(claim('B'))).code).toBe('record_corrupt');
    }
    await direct.set(body, sealed, 'KEEPTTL');
    expect((await claim('B')).kind).toBe('replay');
  });

  test('plain results are read on the way to a seal only when that is allowed', async () => {
    const { direct, claim, complete } = await setup();
    await claim('A');
    await complete('A');
    const strict = new RedisStore({ client: direct, seal });
    expect((await failureOf(callsOf(strict).claim('B'))).code).toBe('record_corrupt');
    const lenient = new RedisStore({ client: direct, seal, acceptUnsealed: true });
    expect((await callsOf(lenient).claim('B')).kind).toBe('replay');
  });
});

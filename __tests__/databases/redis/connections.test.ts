import { setTimeout as delay } from 'node:timers/promises';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { attemptOf, failureOf, RESPONSE } from '../calls.ts';
import { FaultyProxy } from '../servers/proxy.ts';
import { RedisServer } from '../servers/redis.ts';
import { freePort } from '../servers/server-process.ts';
import { callsOf } from './calls.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** An empty database, reached through a proxy with each driver, and past it. */
async function setup(driver: 'ioredis' | 'node-redis', options: { resends?: boolean } = {}) {
  const direct = server.ioredis();
  await direct.flushall();
  const proxy = await FaultyProxy.start(server);
  const { port } = proxy;
  const client =
    driver === 'ioredis'
      ? server.ioredis({ port, autoResendUnfulfilledCommands: options.resends ?? true })
      : await server.nodeRedis({ port });
  const store = new RedisStore({ client });
  const past = new RedisStore({ client: direct });
  // The scripts are known, and the settings have been looked at.
  await callsOf(store).claim('warm', { key: 'warm' });
  await callsOf(store).complete('warm', { key: 'warm' });
  await store.inspect('warm');
  return { proxy, direct, store, past, ...callsOf(store), pastCalls: callsOf(past) };
}

test('a claim that ioredis sends again after a lost reply is new, and ran twice', async () => {
  const { proxy, direct, claim, pastCalls } = await setup('ioredis');
  await direct.config('RESETSTAT');
  proxy.mode = 'eat-reply';
  const answer = claim('A');
  while (proxy.eaten === 0) await delay(5);
  proxy.mode = 'pass';
  expect(await answer).toEqual({ kind: 'new', attempt: 1 });
  expect(await direct.info('commandstats')).toMatch(/cmdstat_evalsha:calls=2,/);
  expect(await pastCalls.claim('B')).toEqual({ kind: 'pending', leaseOver: false });
  await proxy.stop();
});

test('a complete that ioredis sends again after its reply was lost resolves', async () => {
  const { proxy, claim, complete, pastCalls } = await setup('ioredis');
  await claim('A');
  proxy.mode = 'eat-reply';
  const saved = complete('A');
  while (proxy.eaten === 0) await delay(5);
  proxy.mode = 'pass';
  await saved;
  expect((await pastCalls.claim('B')).kind).toBe('replay');
  await proxy.stop();
});

describe.each([
  ['ioredis that sends nothing again', 'ioredis', { resends: false }],
  ['node-redis', 'node-redis', {}],
] as const)('on %s', (_name, driver, options) => {
  test('a claim whose reply was lost is a rejection, and new when asked for again', async () => {
    const { proxy, direct, claim, past } = await setup(driver, options);
    await direct.config('RESETSTAT');
    proxy.mode = 'eat-reply';
    const { code } = await failureOf(claim('A', { timeoutMs: 1_500 }));
    expect(code).toMatch(/^store_(failed|timeout)$/);
    proxy.mode = 'pass';
    expect((await past.inspect('k'))?.owner).toBe('A');
    expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
    // Once for each time that it was asked for, and never with the text of the script.
    expect(await direct.info('commandstats')).not.toMatch(/cmdstat_eval:/);
    await proxy.stop();
  });

  test('a claim whose reply was lost is undone by a release', async () => {
    const { proxy, claim, release, pastCalls } = await setup(driver, options);
    proxy.mode = 'eat-reply';
    await failureOf(claim('A', { timeoutMs: 1_500 }));
    proxy.mode = 'pass';
    await release('A');
    expect(await pastCalls.claim('B')).toEqual({ kind: 'new', attempt: 1 });
    await proxy.stop();
  });

  test('a complete whose reply was lost is saved, and resolves when it is sent again', async () => {
    const { proxy, claim, complete, past } = await setup(driver, options);
    await claim('A');
    proxy.mode = 'eat-reply';
    const { code } = await failureOf(complete('A', { timeoutMs: 1_500 }));
    expect(code).toMatch(/^store_(failed|timeout)$/);
    proxy.mode = 'pass';
    expect((await past.inspect('k'))?.state).toBe('completed');
    await complete('A');
    await proxy.stop();
  });
});

describe.each(['ioredis', 'node-redis'] as const)('on %s, whatever it does', (driver) => {
  test('a half-open connection is a rejection within the deadline', async () => {
    const { proxy, store } = await setup(driver);
    proxy.mode = 'hole';
    const startMs = performance.now();
    // Nothing aborts it: the store keeps the time by itself.
    const call = { timeoutMs: 500, signal: new AbortController().signal };
    const calls = [
      store.claim('k', 'f', attemptOf('A'), call),
      store.complete('k', RESPONSE, attemptOf('A'), call),
      store.release('k', attemptOf('A'), call),
    ];
    const failures = await Promise.all(calls.map(failureOf));
    for (const { code } of failures) expect(code).toBe('store_timeout');
    expect(performance.now() - startMs).toBeLessThan(3_000);
    await proxy.stop();
  });

  test('a call that is aborted is a rejection at once', async () => {
    const { proxy, store } = await setup(driver);
    proxy.mode = 'hole';
    const { signal, abort } = abortable();
    const claim = failureOf(store.claim('k', 'f', attemptOf('A'), { signal, timeoutMs: 60_000 }));
    await delay(50);
    abort();
    expect((await claim).code).toBe('store_timeout');
    await proxy.stop();
  });

  test('a claim that is applied after its deadline is undone by the release after it', async () => {
    const { proxy, claim, release, past, pastCalls } = await setup(driver);
    server.pause();
    expect((await failureOf(claim('A', { timeoutMs: 300 }))).code).toBe('store_timeout');
    server.resume();
    while ((await past.inspect('k')) === undefined) await delay(20);
    await release('A');
    expect(await pastCalls.claim('B')).toEqual({ kind: 'new', attempt: 1 });
    await proxy.stop();
  });

  test('a script that the server has forgotten is sent with its text, once', async () => {
    const { proxy, direct, claim, complete, pastCalls } = await setup(driver);
    await direct.script('FLUSH');
    await direct.config('RESETSTAT');
    expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
    await complete('A');
    await claim('A', { key: 'other' });
    expect((await pastCalls.claim('B')).kind).toBe('replay');
    const stats = await direct.info('commandstats');
    expect(stats).toMatch(/cmdstat_eval:calls=2,/);
    expect(stats).toMatch(/cmdstat_evalsha:calls=4,.*failed_calls=2/);
    await proxy.stop();
  });

  test('a server that is not there is a rejection, and no obstacle once it is', async () => {
    const port = await freePort();
    const early =
      driver === 'ioredis'
        ? server.ioredis({ port })
        : await server.nodeRedis({ port, later: true });
    const { claim } = callsOf(new RedisStore({ client: early }));
    const { code, message } = await failureOf(claim('A', { timeoutMs: 1_000 }));
    expect(code).toMatch(/^store_(timeout|no_connection)$/);
    expect(message).toMatch(/^(claim|check): /);
    const { proxy: unused, pastCalls } = await setup(driver);
    await unused.stop();
    const proxy = await FaultyProxy.start(server, port);
    expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
    expect((await pastCalls.claim('B')).kind).toBe('pending');
    await proxy.stop();
  });
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

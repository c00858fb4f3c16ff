import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { failureOf } from '../calls.ts';
import { FaultyProxy } from '../servers/proxy.ts';
import { DURABLE, RedisServer } from '../servers/redis.ts';
import { callsOf } from './calls.ts';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A primary, and a replica whose link to it can be cut. */
async function setup(driver: 'ioredis' | 'node-redis', waitReplicas: number) {
  const primary = await RedisServer.start();
  const { replica, link } = await replicaOf(primary);
  ends.push(() => primary.stop());
  const client = driver === 'ioredis' ? primary.ioredis() : await primary.nodeRedis();
  const store = new RedisStore({ client, waitReplicas, waitReplicasTimeoutMs: 400 });
  const after = new RedisStore({ client: replica.ioredis() });
  // The scripts are known.
  await callsOf(store).claim('warm', { key: 'warm' });
  await callsOf(store).complete('warm', { key: 'warm' });
  const promote = () => replica.ioredis().replicaof('NO', 'ONE');
  return { primary, replica, link, store, promote, ...callsOf(store), after: callsOf(after) };
}

async function replicaOf(primary: RedisServer) {
  const link = await FaultyProxy.start(primary);
  const replica = await RedisServer.start({ ...DURABLE, replicaof: `127.0.0.1 ${link.port}` });
  ends.unshift(
    () => replica.stop(),
    () => link.stop(),
  );
  await isInStep(replica.ioredis());
  return { replica, link };
}

async function isInStep(replica: Redis): Promise<void> {
  const endMs = performance.now() + 30_000;
  while (!/master_link_status:up/.test(await replica.info('replication'))) {
    if (performance.now() > endMs) throw new Error('The replica did not come up.');
    await delay(20);
  }
}

test('a failover to an asynchronous replica forgets a claim: two are new', async () => {
  const { link, promote, claim, after } = await setup('ioredis', 0);
  link.mode = 'hole';
  expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
  await promote();
  expect(await after.claim('B')).toEqual({ kind: 'new', attempt: 1 });
});

describe.each(['ioredis', 'node-redis'] as const)('with waitReplicas on %s', (driver) => {
  test('what the replica has is acknowledged, and outlives a failover to it', async () => {
    const { promote, claim, complete, release, after } = await setup(driver, 1);
    expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
    expect(await claim('A', { key: 'done' })).toEqual({ kind: 'new', attempt: 1 });
    expect(await claim('A', { key: 'freed' })).toEqual({ kind: 'new', attempt: 1 });
    await complete('A', { key: 'done' });
    await release('A', { key: 'freed' });
    await promote();
    expect(await after.claim('B')).toEqual({ kind: 'pending', leaseOver: false });
    expect((await after.claim('B', { key: 'done' })).kind).toBe('replay');
    expect((await after.claim('B', { key: 'freed' })).kind).toBe('new');
  });

  test('what the replica does not have is a rejection, also when asked for again', async () => {
    const { link, promote, claim, complete, after } = await setup(driver, 1);
    await claim('A', { key: 'begun' });
    link.mode = 'hole';
    for (let n = 0; n < 2; n += 1) {
      expect((await failureOf(claim('A'))).code).toBe('store_not_replicated');
      const saved = failureOf(complete('A', { key: 'begun' }));
      expect((await saved).code).toBe('store_not_replicated');
    }
    // Nor is a response handed out that a failover would take back.
    const replay = await failureOf(claim('B', { key: 'begun' }));
    expect(replay.code).toBe('store_not_replicated');
    expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: false });
    await promote();
    expect(await after.claim('B')).toEqual({ kind: 'new', attempt: 1 });
    expect(await after.claim('B', { key: 'begun' })).toEqual({ kind: 'pending', leaseOver: false });
  });

  test('a script that the server has forgotten is waited for, too', async () => {
    const { primary, link, claim } = await setup(driver, 1);
    await primary.ioredis().script('FLUSH');
    expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
    await primary.ioredis().script('FLUSH');
    link.mode = 'hole';
    expect((await failureOf(claim('A'))).code).toBe('store_not_replicated');
  });
});

test('a failover to a replica that was not waited for forgets it all the same', async () => {
  const { primary, claim } = await setup('ioredis', 1);
  const { replica: second, link } = await replicaOf(primary);
  link.mode = 'hole';
  expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
  await second.ioredis().replicaof('NO', 'ONE');
  const { claim: claimThere } = callsOf(new RedisStore({ client: second.ioredis() }));
  expect(await claimThere('B')).toEqual({ kind: 'new', attempt: 1 });
});

/** Claims under load; the replica falls behind, the primary is killed, the replica takes over. */
async function failoverUnderLoad(waitReplicas: number) {
  const { primary, link, promote, claim, after } = await setup('ioredis', waitReplicas);
  const acknowledged: string[] = [];
  let isOver = false;
  const workers = Array.from({ length: 8 }, async (_, worker) => {
    for (let n = 0; !isOver; n += 1) {
      const key = `${worker}.${n}`;
      await claim(key, { key, timeoutMs: 1_000 }).then(
        () => acknowledged.push(key),
        () => delay(20),
      );
    }
  });
  await delay(300);
  link.mode = 'hole';
  await delay(300);
  isOver = true;
  await primary.kill();
  await Promise.all(workers);
  await promote();
  const asked = acknowledged.map((key) => after.claim('B', { key }));
  const lost = (await Promise.all(asked)).filter(({ kind }) => kind === 'new').length;
  return { acknowledged: acknowledged.length, lost };
}

test('of what was acknowledged while the replica lagged, a failover forgets all', async () => {
  const { acknowledged, lost } = await failoverUnderLoad(0);
  expect(acknowledged).toBeGreaterThan(50);
  expect(lost).toBeGreaterThan(10);
});

test('with waitReplicas it forgets none: nothing was acknowledged meanwhile', async () => {
  const { acknowledged, lost } = await failoverUnderLoad(1);
  expect(acknowledged).toBeGreaterThan(20);
  expect(lost).toBe(0);
});

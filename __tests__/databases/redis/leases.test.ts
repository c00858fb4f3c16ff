import { RedisStore } from '../../../src/stores/redis/index.ts';
import { SettableClock } from '../../../src/testing/index.ts';
import { attemptOf, failureOf, RESPONSE, within } from '../calls.ts';
import { RedisServer } from '../servers/redis.ts';
import { callsOf } from './calls.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const LEASE_MS = 60_000;

/** An empty database and two replicas of a service, whose records go by the clock of the test. */
async function setup() {
  const direct = server.ioredis();
  await direct.flushall();
  const clock = new SettableClock();
  const store = new RedisStore({ client: direct, now: clock.now });
  const other = new RedisStore({ client: await server.nodeRedis(), now: clock.now });
  const take = (owner: string, withinMs?: number, on = store) =>
    on.takeOver(
      'k',
      'f',
      attemptOf(owner, { leaseMs: LEASE_MS }),
      withinMs === undefined ? {} : { withinMs },
      within(),
    );
  const renew = (owner: string) => store.renew('k', LEASE_MS, attemptOf(owner), within());
  const calls = callsOf(store);
  const claim = (owner: string) => calls.claim(owner, { leaseMs: LEASE_MS });
  return { direct, clock, store, other, take, renew, ...calls, claim };
}

test('a lease ends by the clock of the store, and its end alone frees nothing', async () => {
  const { clock, claim, store } = await setup();
  expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
  expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: false });
  await clock.advance(LEASE_MS - 1);
  expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: false });
  await clock.advance(1);
  expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: true });
  expect(await claim('A')).toEqual({ kind: 'new', attempt: 1 });
  expect((await store.inspect('k'))?.leaseUntilMs).toBe(clock.now());
});

test('a claim without a lease is pending for ever, and cannot be taken', async () => {
  const { clock, store, take } = await setup();
  await callsOf(store).claim('A');
  await clock.advance(10 * 365 * 24 * 3_600_000);
  expect(await callsOf(store).claim('B')).toEqual({ kind: 'pending', leaseOver: false });
  expect(await take('B')).toEqual({ kind: 'not-taken' });
});

test('nothing is taken under a lease, of another fingerprint, or once completed', async () => {
  const { clock, claim, complete, store, take } = await setup();
  expect(await take('B')).toEqual({ kind: 'not-taken' });
  await claim('A');
  expect(await take('B')).toEqual({ kind: 'not-taken' });
  await clock.advance(LEASE_MS);
  const foreign = store.takeOver('k', 'another', attemptOf('B'), {}, within());
  expect(await foreign).toEqual({ kind: 'not-taken' });
  await complete('A');
  expect(await take('B')).toEqual({ kind: 'not-taken' });
});

test('who takes over is attempt 2, may ask again, and fences the first owner out', async () => {
  const { clock, claim, complete, release, renew, store, take } = await setup();
  const createdAtMs = clock.now();
  await claim('A');
  await clock.advance(LEASE_MS);
  expect(await take('B')).toEqual({ kind: 'taken', attempt: 2 });
  expect(await take('B')).toEqual({ kind: 'taken', attempt: 2 });
  expect(await take('C')).toEqual({ kind: 'not-taken' });
  expect(await claim('B')).toEqual({ kind: 'new', attempt: 2 });
  expect((await failureOf(complete('A'))).code).toBe('fenced');
  expect((await failureOf(renew('A'))).code).toBe('fenced');
  await release('A');
  const leaseUntilMs = clock.now() + LEASE_MS;
  expect(await store.inspect('k')).toMatchObject({ owner: 'B', createdAtMs, leaseUntilMs });
  await complete('B');
  expect((await claim('C')).kind).toBe('replay');
});

test('of many that take at once, on two clients, one takes', async () => {
  const { clock, claim, other, take } = await setup();
  await claim('A');
  await clock.advance(LEASE_MS);
  const takes = Array.from({ length: 32 }, (_, n) =>
    n % 2 === 0 ? take(`owner ${n}`) : take(`owner ${n}`, undefined, other),
  );
  const kinds = (await Promise.all(takes)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'taken')).toHaveLength(1);
});

test('nothing is taken after the time for it, counted from the first claim', async () => {
  const { clock, claim, take } = await setup();
  await claim('A');
  await clock.advance(LEASE_MS);
  expect(await take('B', 2 * LEASE_MS)).toEqual({ kind: 'taken', attempt: 2 });
  await clock.advance(LEASE_MS);
  expect(await take('C', 2 * LEASE_MS)).toEqual({ kind: 'taken', attempt: 3 });
  await clock.advance(LEASE_MS);
  expect(await take('D', 2 * LEASE_MS)).toEqual({ kind: 'too-late' });
  expect(await take('D')).toEqual({ kind: 'taken', attempt: 4 });
});

test('a living owner keeps its lease, whatever became of the reply to a renewal', async () => {
  const { clock, claim, renew, take } = await setup();
  await claim('A');
  for (let n = 0; n < 5; n += 1) {
    await clock.advance(LEASE_MS - 1);
    await renew('A');
    await renew('A');
    expect(await take('B')).toEqual({ kind: 'not-taken' });
  }
});

test('a release of a record taken over keeps its number, and only ends its lease', async () => {
  const { clock, claim, release, store, take } = await setup();
  await claim('A');
  await clock.advance(LEASE_MS);
  await take('B');
  await release('B');
  expect(await store.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
  expect(await claim('C')).toEqual({ kind: 'pending', leaseOver: true });
  expect(await take('C')).toEqual({ kind: 'taken', attempt: 3 });
});

test('an operator settles a pending record, and its owner is fenced out', async () => {
  const { clock, claim, complete, direct, store } = await setup();
  const note = { reason: 'the carrier has it', by: 'ops' };
  const done = { kind: 'done', response: RESPONSE } as const;
  expect(await store.settle('k', done, note)).toBe('absent');
  await claim('A');
  expect(await store.settle('k', done, note)).toBe('lease-holds');
  await clock.advance(LEASE_MS);
  expect(await store.settle('k', done, note)).toBe('settled');
  expect(await store.settle('k', done, note)).toBe('not-pending');
  expect((await failureOf(complete('A'))).code).toBe('fenced');
  expect(await claim('B')).toEqual({ kind: 'replay', response: RESPONSE });
  const [state] = await direct.keys('idempotent:r:*');
  expect(await direct.get(state ?? '')).toContain('the carrier has it');
});

test('an operator frees a record at attempt 1, and ends only the lease of a later', async () => {
  const { clock, claim, store, take } = await setup();
  const note = { reason: 'it never began', by: 'ops' };
  const never = { kind: 'never-started' } as const;
  await claim('A');
  expect(await store.settle('k', never, note, { force: true })).toBe('settled');
  expect(await store.inspect('k')).toBeUndefined();
  await claim('A');
  await clock.advance(LEASE_MS);
  await take('B');
  expect(await store.settle('k', never, note, { force: true })).toBe('settled');
  expect(await store.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
  expect(await take('C')).toEqual({ kind: 'taken', attempt: 3 });
});

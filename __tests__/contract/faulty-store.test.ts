import { setTimeout as delay } from 'node:timers/promises';
import type { Attempt, IdempotencyStore, StoreCall } from '../../src/core/store.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { FaultyStore } from '../../src/testing/index.ts';

const RESPONSE = {
  kept: true,
  status: 201,
  headers: [['ETag', '"a"']],
  removedNames: [],
  body: Buffer.from('{}'),
} as const;

function setup() {
  const store = new MemoryStore();
  const faulty = new FaultyStore(store);
  const call: StoreCall = { signal: new AbortController().signal, timeoutMs: 5_000 };
  const attempt = (owner: string) =>
    ({ owner, signal: new AbortController().signal }) as unknown as Attempt;
  const claim = (on: IdempotencyStore, owner: string) => on.claim('k', 'f', attempt(owner), call);
  return { store, faulty, call, attempt, claim };
}

/** What has become of a promise by now. */
async function stateOf(promise: Promise<unknown>): Promise<string> {
  const settled = promise.then(
    () => 'resolved',
    () => 'rejected',
  );
  return Promise.race([settled, delay(20).then(() => 'unanswered')]);
}

test('a planned rejection is met at its call, once, and nothing is applied', async () => {
  const { faulty, store, claim } = setup();
  faulty.inject('claim', { kind: 'reject', error: new Error('down') }, { at: 2 });
  expect(await claim(faulty, 'a')).toEqual({ kind: 'new', attempt: 1 });
  await expect(claim(faulty, 'b')).rejects.toThrow('down');
  expect(await claim(faulty, 'b')).toEqual({ kind: 'pending' });
  faulty.inject('claim', { kind: 'reject' });
  await expect(
    faulty.claim('other', 'f', { owner: 'a' } as Attempt, {} as StoreCall),
  ).rejects.toThrow('not applied');
  expect(await store.inspect('other')).toBeUndefined();
});

test('a fault from then on is met until the store is healed', async () => {
  const { faulty, claim } = setup();
  faulty.inject('claim', { kind: 'reject' }, { times: Number.POSITIVE_INFINITY });
  for (let n = 0; n < 3; n += 1) await expect(claim(faulty, 'a')).rejects.toThrow();
  faulty.heal();
  expect(await claim(faulty, 'a')).toEqual({ kind: 'new', attempt: 1 });
});

test('a lost answer leaves the call applied', async () => {
  const { faulty, store, claim, attempt, call } = setup();
  faulty.inject('claim', { kind: 'apply-then-reject' });
  faulty.inject('complete', { kind: 'apply-then-hang' });
  await expect(claim(faulty, 'a')).rejects.toThrow('applied');
  expect((await store.inspect('k'))?.owner).toBe('a');
  const complete = faulty.complete('k', RESPONSE, attempt('a'), call);
  expect(await stateOf(complete)).toBe('unanswered');
  expect((await store.inspect('k'))?.state).toBe('completed');
});

test('a call that hangs is neither applied nor answered', async () => {
  const { faulty, store, claim } = setup();
  faulty.inject('claim', { kind: 'hang' });
  expect(await stateOf(claim(faulty, 'a'))).toBe('unanswered');
  expect(await store.inspect('k')).toBeUndefined();
});

test('a late call is applied and answered when it is let go, as it was sent', async () => {
  const { faulty, store, claim, attempt, call } = setup();
  faulty.inject('claim', { kind: 'apply-late' });
  const late = claim(faulty, 'a');
  expect(await stateOf(late)).toBe('unanswered');
  expect(await store.inspect('k')).toBeUndefined();
  await faulty.letGo();
  expect(await late).toEqual({ kind: 'new', attempt: 1 });

  faulty.inject('complete', { kind: 'apply-late' });
  const response = { ...RESPONSE, body: Buffer.from('as sent') };
  const complete = faulty.complete('k', response, attempt('a'), call);
  response.body.fill(0);
  await faulty.letGo();
  await complete;
  expect((await store.inspect('k'))?.response).toMatchObject({ body: Buffer.from('as sent') });
});

test('a late reply comes after its time, though the call was applied at once', async () => {
  const { faulty, store, claim } = setup();
  faulty.inject('claim', { kind: 'reply-late', afterMs: 60 });
  const late = claim(faulty, 'a');
  expect(await stateOf(late)).toBe('unanswered');
  expect((await store.inspect('k'))?.owner).toBe('a');
  expect(await late).toEqual({ kind: 'new', attempt: 1 });
});

test('nonsense is answered as it was given', async () => {
  const { faulty, claim } = setup();
  faulty.inject('claim', { kind: 'answer', value: { kind: 'replay', response: { kept: true } } });
  expect(await claim(faulty, 'a')).toEqual({ kind: 'replay', response: { kept: true } });
  expect(faulty.history.events[0]?.outcome).toBe('nonsense');
});

test('the journal holds every call with what its caller saw', async () => {
  const { faulty, claim, attempt, call } = setup();
  faulty.inject('release', { kind: 'reject' });
  await claim(faulty, 'a');
  await faulty.release('k', attempt('a'), call).catch(() => {});
  await faulty.complete('k', RESPONSE, attempt('a'), call);
  await claim(faulty, 'b');
  await faulty.complete('k', RESPONSE, attempt('b'), call).catch(() => {});
  expect(faulty.history.methods).toEqual(['claim', 'release', 'complete', 'claim', 'complete']);
  expect(faulty.history.events.map((event) => event.outcome)).toEqual([
    'new',
    'rejected',
    'resolved',
    'replay',
    'fenced',
  ]);
  expect(faulty.history.events[3]?.response).toEqual(RESPONSE);
});

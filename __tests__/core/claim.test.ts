import { background } from '../../src/core/background.ts';
import { IdempotencyError } from '../../src/core/errors.ts';
import type { IdempotencyStore, StoreCall } from '../../src/core/store.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { MINUTE_MS, RESPONSE, attemptRig as setup } from './attempt-rig.ts';
import { settled } from './manual-runtime.ts';

afterEach(() => {
  expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
});

describe('a claim', () => {
  test('that rejects lets nothing run, and its owner is released until acknowledged', async () => {
    const { runtime, store, begin } = setup();
    store.inject('claim', { kind: 'apply-then-reject' });
    store.inject('release', { kind: 'reject' }, { times: 3 });
    const attempt = begin();
    expect(await attempt.claim()).toEqual({ kind: 'unavailable' });
    expect(() => attempt.start()).toThrow('dead');
    await settled();
    expect(background().unacknowledgedReleases).toBe(1);
    await runtime.advance(1_000);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
    await runtime.advance(MINUTE_MS);
  });

  test('that is late and is applied after its release is released once more', async () => {
    const { runtime, store, begin, journal } = setup();
    store.inject('claim', { kind: 'apply-late' });
    const claim = begin().claim();
    await runtime.advance(5_000);
    expect(await claim).toEqual({ kind: 'unavailable' });
    await runtime.advance(100);
    expect(journal()).toBe('claim release');
    await store.letGo();
    await settled();
    expect(journal()).toBe('claim release release');
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
    await runtime.advance(11 * MINUTE_MS);
  });

  test('that rejects while it is still under way is released again after its time', async () => {
    const { runtime, store, begin, journal } = setup();
    store.inject('claim', { kind: 'reject' });
    expect(await begin().claim()).toEqual({ kind: 'unavailable' });
    await runtime.advance(4_999);
    expect(journal()).toBe('claim release');
    await runtime.advance(1);
    expect(journal()).toBe('claim release release');
    // A timer of ten minutes for each of them would fill the memory while the store is down.
    expect(runtime.timers).toBe(0);
  });

  test('that never settles keeps nothing going for ever', async () => {
    const { runtime, store, begin } = setup();
    store.inject('claim', { kind: 'hang' });
    const claim = begin().claim();
    await runtime.advance(MINUTE_MS);
    // Its release was taken long ago, and what waits for the claim still keeps memory.
    expect(background().unacknowledgedReleases).toBe(1);
    await runtime.advance(10 * MINUTE_MS);
    expect(await claim).toEqual({ kind: 'unavailable' });
    expect(runtime.timers).toBe(0);
  });

  test.each(['store_full', 'store_busy', 'store_not_migrated', 'store_closed'] as const)(
    'that rejects with %s has reserved nothing, and nothing is released',
    async (code) => {
      const { store, begin, journal } = setup();
      store.inject('claim', { kind: 'reject', error: new IdempotencyError(code, 'no') });
      expect(await begin().claim()).toEqual({ kind: 'unavailable' });
      await settled();
      expect(journal()).toBe('claim');
    },
  );

  test('that meets an unreadable record is an error, and the record is kept', async () => {
    const { store, begin, journal } = setup();
    const corrupt = new IdempotencyError('record_corrupt', 'unreadable');
    store.inject('claim', { kind: 'reject', error: corrupt });
    await expect(begin().claim()).rejects.toBe(corrupt);
    await settled();
    expect(journal()).toBe('claim');
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an unknown kind', { kind: 'fresh' }],
    ['new without a number', { kind: 'new' }],
    ['new with attempt 0', { kind: 'new', attempt: 0 }],
    ['replay without a response', { kind: 'replay' }],
    ['replay without a status', { kind: 'replay', response: { kept: false } }],
    ['replay that does not say if it is kept', { kind: 'replay', response: { status: 200 } }],
    ['replay without headers', { kind: 'replay', response: { ...RESPONSE, headers: undefined } }],
    ['replay without names', { kind: 'replay', response: { ...RESPONSE, removedNames: 'x' } }],
    ['replay with a text for a body', { kind: 'replay', response: { ...RESPONSE, body: 'made' } }],
  ])('answered with %s is an error that names the store, and never a run', async (_, value) => {
    const { runtime, store, begin } = setup();
    store.inject('claim', { kind: 'answer', value });
    const attempt = begin();
    await expect(attempt.claim()).rejects.toThrow(/FaultyStore.*contract/);
    expect(() => attempt.start()).toThrow('dead');
    await runtime.advance(MINUTE_MS);
  });

  test.each([
    ['a plain object', {}],
    ['an object of no class', Object.create(null)],
  ])('of a store that is %s and answers nonsense is an error, too', async (_, store) => {
    const { runtime, begin } = setup();
    Object.assign(store, { claim: async () => 'nonsense', release: async () => {} });
    await expect(begin({ store }).claim()).rejects.toThrow(/from (Object|the store)\./);
    await runtime.advance(MINUTE_MS);
  });

  test('is not sent while more than 64 MiB of answers wait to be saved', async () => {
    const { store, begin, journal } = setup();
    background().unsavedBytes = 64 * 1024 * 1024;
    expect(await begin().claim()).toEqual({ kind: 'unavailable' });
    expect(journal()).toBe('');
    background().unsavedBytes = 0;
    expect(await begin({ store }).claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('is not sent while 10,000 releases wait for the store', async () => {
    const { begin, journal } = setup();
    background().unacknowledgedReleases = 10_000;
    expect(await begin().claim()).toEqual({ kind: 'unavailable' });
    expect(journal()).toBe('');
    background().unacknowledgedReleases = 0;
  });

  test('of a store that throws instead of rejecting is a rejection', async () => {
    const { runtime, begin } = setup();
    const throwing = {
      ...new MemoryStore(),
      claim: () => {
        throw new Error('not async');
      },
      release: async () => {},
    } as unknown as IdempotencyStore;
    expect(await begin({ store: throwing as never }).claim()).toEqual({ kind: 'unavailable' });
    await runtime.advance(11 * MINUTE_MS);
  });

  test('hands the store a signal that is aborted at the deadline, and not before', async () => {
    const { runtime, begin } = setup();
    const calls: StoreCall[] = [];
    const claim = (_key: unknown, _fingerprint: unknown, _context: unknown, call: StoreCall) => {
      calls.push(call);
      return new Promise(() => {});
    };
    const store = { claim, release: async () => {} } as never;
    void begin({ store }).claim();
    void begin({ store }).claim();
    const [seenEarly, seenLate] = calls as [StoreCall, StoreCall];
    expect([seenEarly.timeoutMs, seenEarly.signal.aborted]).toEqual([5_000, false]);
    await runtime.advance(4_999);
    expect(seenEarly.signal.aborted).toBe(false);
    await runtime.advance(1);
    expect([seenEarly.signal.aborted, seenLate.signal.aborted]).toEqual([true, true]);
    await runtime.advance(21 * MINUTE_MS);
  });
});

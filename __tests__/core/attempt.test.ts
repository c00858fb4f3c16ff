import { AttemptMachine } from '../../src/core/attempt.ts';
import { AttemptContext } from '../../src/core/attempt-context.ts';
import { background } from '../../src/core/background.ts';
import { FencedError, IdempotencyError, RecordTooLargeError } from '../../src/core/errors.ts';
import type { SavedResponse } from '../../src/core/saved-response.ts';
import type { IdempotencyStore, RecordView, StoreCall } from '../../src/core/store.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { ManualRuntime, settled } from './manual-runtime.ts';

const MINUTE_MS = 60_000;
const RESPONSE: SavedResponse = {
  kept: true,
  status: 201,
  headers: [['ETag', '"a"']],
  removedNames: [],
  body: Buffer.from('made'),
};

function setup(store: IdempotencyStore = new MemoryStore()) {
  const runtime = new ManualRuntime();
  const faulty = new FaultyStore(store);
  const settings = {
    store: faulty,
    runtime,
    storeTimeoutMs: 5_000,
    admitTimeoutMs: 5_000,
    saveTimeoutMs: 15_000,
  };
  const begin = (over: Partial<typeof settings> & { store?: IdempotencyStore } = {}) => {
    const identity = {
      key: 'k',
      recordKey: 'k',
      tenant: undefined,
      operation: undefined,
      fingerprint: 'f',
    };
    const context = new AttemptContext(identity, runtime.newOwner(), () => {});
    return new AttemptMachine(context, { ...settings, ...over });
  };
  const run = async () => {
    const attempt = begin();
    await attempt.claim();
    await attempt.admit();
    attempt.start();
    return attempt;
  };
  const journal = () => faulty.history.methods.join(' ');
  return { runtime, store: faulty, begin, run, journal };
}

afterEach(() => {
  expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
});

describe('a claim', () => {
  test('that rejects lets nothing run, and its owner is released until that is acknowledged', async () => {
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
    await runtime.advance(11 * MINUTE_MS);
  });

  test('that never settles keeps nothing going for ever', async () => {
    const { runtime, store, begin } = setup();
    store.inject('claim', { kind: 'hang' });
    const claim = begin().claim();
    await runtime.advance(11 * MINUTE_MS);
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

describe('admission', () => {
  test('by 0 lets the handler start, once', async () => {
    const { begin } = setup();
    const attempt = begin();
    await attempt.claim();
    expect(await attempt.admit(() => 0)).toBe(0);
    attempt.start();
    expect(() => attempt.start()).toThrow('running');
  });

  test.each([429, 503] as const)('refused with %d gives the key back', async (status) => {
    const { begin, journal } = setup();
    const attempt = begin();
    await attempt.claim();
    expect(await attempt.admit(() => status)).toBe(status);
    expect(() => attempt.start()).toThrow('dead');
    expect(journal()).toBe('claim release');
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('that throws gives the key back, and its error goes on', async () => {
    const { begin, journal } = setup();
    const attempt = begin();
    await attempt.claim();
    const down = new Error('limiter down');
    await expect(attempt.admit(() => Promise.reject(down))).rejects.toBe(down);
    expect(journal()).toBe('claim release');
    expect(() => attempt.start()).toThrow('dead');
  });

  test.each([undefined, null, true, '0', 200, Number.NaN, {}])(
    'answered with %p never admits',
    async (value) => {
      const { begin, journal } = setup();
      const attempt = begin();
      await attempt.claim();
      await expect(attempt.admit(() => value)).rejects.toMatchObject({ code: 'admit_invalid' });
      expect(journal()).toBe('claim release');
      expect(() => attempt.start()).toThrow('dead');
    },
  );

  test('that is late is a refusal with 503, whatever it says later', async () => {
    const { runtime, begin, journal } = setup();
    const attempt = begin();
    await attempt.claim();
    let answer: (value: 0) => void = () => {};
    const admitted = attempt.admit(() => new Promise((resolve) => { answer = resolve; }));
    await runtime.advance(5_000);
    expect(await admitted).toBe(503);
    answer(0);
    await settled();
    expect(() => attempt.start()).toThrow('dead');
    expect(journal()).toBe('claim release');
  });

  test('refused is said even when the release fails, which goes on in the background', async () => {
    const { runtime, store, begin } = setup();
    store.inject('release', { kind: 'reject' }, { times: 2 });
    const attempt = begin();
    await attempt.claim();
    expect(await attempt.admit(() => 429)).toBe(429);
    expect(await begin().claim()).toEqual({ kind: 'pending' });
    await runtime.advance(1_000);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('refused is said within the deadline of a release that hangs', async () => {
    const { runtime, store, begin } = setup();
    store.inject('release', { kind: 'hang' });
    const attempt = begin();
    await attempt.claim();
    const admitted = attempt.admit(() => 503);
    await runtime.advance(5_000);
    expect(await admitted).toBe(503);
    await runtime.advance(1_000);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('is given the context that the store and the handler are given, frozen', async () => {
    const { begin } = setup();
    const attempt = begin();
    await attempt.claim();
    await attempt.admit((context) => {
      expect(context).toBe(attempt.context);
      expect(Object.isFrozen(context)).toBe(true);
      return 0;
    });
  });
});

describe('saving', () => {
  test('is tried again until the store takes it', async () => {
    const { runtime, store, run, journal } = setup();
    store.inject('complete', { kind: 'reject' }, { times: 3 });
    const attempt = await run();
    const saving = attempt.complete(RESPONSE);
    await runtime.advance(2_000);
    expect(await saving).toEqual({ kind: 'saved' });
    expect(journal()).toBe('claim complete complete complete complete');
  });

  test('whose answer was lost is saved once, and is told as saved', async () => {
    const { runtime, store, run } = setup();
    store.inject('complete', { kind: 'apply-then-reject' });
    const attempt = await run();
    const saving = attempt.complete(RESPONSE);
    await runtime.advance(1_000);
    expect(await saving).toEqual({ kind: 'saved' });
  });

  test('that fails for saveTimeoutMs is told as unsaved, and goes on', async () => {
    const { runtime, store, run, begin } = setup();
    store.inject('complete', { kind: 'reject' }, { times: Number.POSITIVE_INFINITY });
    const attempt = await run();
    const saving = attempt.complete(RESPONSE);
    await runtime.advance(15_000);
    expect(await saving).toEqual({ kind: 'unsaved' });
    expect(background().unsavedBytes).toBe(4);
    expect(await begin().claim()).toEqual({ kind: 'pending' });
    store.heal();
    await runtime.advance(5_000);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: RESPONSE });
  });

  test('that hangs is told as unsaved within saveTimeoutMs', async () => {
    const { runtime, store, run } = setup();
    store.inject('complete', { kind: 'hang' }, { times: Number.POSITIVE_INFINITY });
    const attempt = await run();
    let ended: unknown;
    void attempt.complete(RESPONSE).then((saving) => { ended = saving; });
    await runtime.advance(14_000);
    expect(ended).toBeUndefined();
    await runtime.advance(1_001);
    expect(ended).toEqual({ kind: 'unsaved' });
    await runtime.advance(11 * MINUTE_MS);
  });

  test('is given up after ten minutes more, and the key stays pending', async () => {
    const { runtime, store, run, begin } = setup();
    store.inject('complete', { kind: 'reject' }, { times: Number.POSITIVE_INFINITY });
    const attempt = await run();
    void attempt.complete(RESPONSE);
    await runtime.advance(11 * MINUTE_MS);
    expect(background().unsavedBytes).toBe(0);
    expect(runtime.timers).toBe(0);
    expect(await begin().claim()).toEqual({ kind: 'pending' });
  });

  test('of what the store can never take is saved as not kept', async () => {
    const { store, run, begin, journal } = setup();
    store.inject('complete', { kind: 'reject', error: new RecordTooLargeError('too large') });
    const attempt = await run();
    expect(await attempt.complete(RESPONSE)).toEqual({ kind: 'saved' });
    expect(journal()).toBe('claim complete complete');
    expect(await begin().claim()).toEqual({
      kind: 'replay',
      response: { kept: false, status: 201 },
    });
  });

  test('of a store that takes not even the fact is unsaved, without an endless loop', async () => {
    const { runtime, store, run } = setup();
    const error = new RecordTooLargeError('too large');
    store.inject('complete', { kind: 'reject', error }, { times: Number.POSITIVE_INFINITY });
    const attempt = await run();
    const saving = attempt.complete(RESPONSE);
    await runtime.advance(15_000);
    expect(await saving).toEqual({ kind: 'unsaved' });
    await runtime.advance(11 * MINUTE_MS);
  });

  test('by a superseded attempt says what the record says now, and is not tried again', async () => {
    const { store, run, journal } = setup();
    store.inject('complete', { kind: 'reject', error: new FencedError() });
    const attempt = await run();
    const saving = await attempt.complete(RESPONSE);
    expect(saving).toMatchObject({ kind: 'superseded', found: { state: 'pending' } });
    expect(journal()).toBe('claim complete');
  });

  test.each([
    ['offers no inspect', undefined],
    ['cannot be inspected', () => Promise.reject(new Error('down'))],
    ['has no such record', async () => undefined],
  ])('by a superseded attempt of a store that %s says nothing of the record', async (_, inspect) => {
    const { run, begin } = setup();
    await run();
    const store = {
      claim: async () => ({ kind: 'new', attempt: 1 }),
      complete: async () => { throw new FencedError(); },
      release: async () => {},
      ...(inspect && { inspect: inspect as () => Promise<RecordView | undefined> }),
    };
    const attempt = begin({ store: store as never });
    await attempt.claim();
    await attempt.admit();
    attempt.start();
    expect(await attempt.complete(RESPONSE)).toEqual({ kind: 'superseded', found: undefined });
  });

  test('is refused to an attempt that has not started', async () => {
    const { begin } = setup();
    const attempt = begin();
    await attempt.claim();
    await expect(attempt.complete(RESPONSE)).rejects.toThrow('reserved');
  });
});

describe('release', () => {
  test('never frees the key of a handler that has begun, or has ended', async () => {
    const { run, begin, journal } = setup();
    const attempt = await run();
    await attempt.release();
    expect(journal()).toBe('claim');
    await attempt.complete(RESPONSE);
    await attempt.release();
    expect(journal()).toBe('claim complete');
    const other = await begin().claim();
    expect(other.kind).toBe('replay');
  });

  test('that never comes through is given up after ten minutes', async () => {
    const { runtime, store, begin } = setup();
    store.inject('release', { kind: 'reject' }, { times: Number.POSITIVE_INFINITY });
    const attempt = begin();
    await attempt.claim();
    await attempt.admit(() => 429);
    await runtime.advance(11 * MINUTE_MS);
    expect(runtime.timers).toBe(0);
  });
});

describe('an outcome that is none', () => {
  test('leaves the key pending', async () => {
    const { run, begin, journal } = setup();
    const attempt = await run();
    expect(attempt.leavePending(500)).toBe(false);
    expect(journal()).toBe('claim');
    expect(await begin().claim()).toEqual({ kind: 'pending' });
  });
});

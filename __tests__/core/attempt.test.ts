import { background } from '../../src/core/background.ts';
import { FencedError, RecordTooLargeError } from '../../src/core/errors.ts';
import type { RecordView } from '../../src/core/store.ts';
import { MINUTE_MS, RESPONSE, attemptRig as setup } from './attempt-rig.ts';
import { settled } from './manual-runtime.ts';

afterEach(() => {
  expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
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
    const admitted = attempt.admit(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
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
    // Its four bytes, and what its request keeps in memory.
    expect(background().unsavedBytes).toBe(4 + 16 * 1024);
    expect(await begin().claim()).toEqual({ kind: 'pending' });
    store.heal();
    await runtime.advance(5_000);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: RESPONSE });
  });

  test('that is to come has no transaction where no recovery was asked for', async () => {
    const { run } = setup();
    const attempt = await run();
    expect(() => attempt.tx).toThrow('got recovery: blind(…)');
    await attempt.complete(RESPONSE);
  });

  test('that hangs is told as unsaved within saveTimeoutMs', async () => {
    const { runtime, store, run } = setup();
    store.inject('complete', { kind: 'hang' }, { times: Number.POSITIVE_INFINITY });
    const attempt = await run();
    let ended: unknown;
    void attempt.complete(RESPONSE).then((saving) => {
      ended = saving;
    });
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

  test('by a superseded attempt says what the record says, and is not tried again', async () => {
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
  ])(
    'by a superseded attempt of a store that %s says nothing of the record',
    async (_, inspect) => {
      const { run, begin } = setup();
      await run();
      const store = {
        claim: async () => ({ kind: 'new', attempt: 1 }),
        complete: async () => {
          throw new FencedError();
        },
        release: async () => {},
        ...(inspect && { inspect: inspect as () => Promise<RecordView | undefined> }),
      };
      const attempt = begin({ store: store as never });
      await attempt.claim();
      await attempt.admit();
      attempt.start();
      expect(await attempt.complete(RESPONSE)).toEqual({ kind: 'superseded', found: undefined });
    },
  );

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
    attempt.leavePending(500);
    expect(journal()).toBe('claim');
    expect(await begin().claim()).toEqual({ kind: 'pending' });
  });
});

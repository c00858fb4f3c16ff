import { background } from '../../src/core/background.ts';
import { type SealedOptions, sealed } from '../../src/core/recovery.ts';
import { done, neverStarted, unknown } from '../../src/core/recovery-outcome.ts';
import type { Attempt } from '../../src/core/store.ts';
import { MINUTE_MS } from './attempt-rig.ts';
import { settled } from './manual-runtime.ts';
import { rejects } from './planned-calls.ts';
import { hearEvents, LEASE_MS, recoveryRig } from './recovery-rig.ts';

const FOUND = { status: 201, headers: { ETag: ['"a"', '"b"'] }, body: 'found' };

describe('recover, asked by the attempt that took a quiet one over', () => {
  const { names } = hearEvents();
  afterEach(() => {
    expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
  });

  async function setup(recover: SealedOptions['recover']) {
    const asked: Attempt[] = [];
    const rig = recoveryRig(
      sealed({
        recover: (context) => {
          asked.push(context);
          return recover(context);
        },
      }),
    );
    await rig.abandon();
    return { ...rig, asked };
  }

  test('is asked once, with its number, and before admit', async () => {
    const { begin, asked, calls } = await setup((context) => {
      calls.journal.push(`recover ${context.attempt}`);
      return neverStarted();
    });
    const attempt = begin();
    await attempt.claim();
    await attempt.admit(() => {
      calls.journal.push('admit');
      return 0;
    });
    expect(asked).toEqual([attempt.context]);
    expect(calls.toString()).toBe('claim takeOver recover 2 admit');
  });

  test('is not asked for a new key, nor while the lease of its owner holds', async () => {
    const { begin, asked, memory, runtime } = await setup(() => neverStarted());
    await memory.settle('k', { kind: 'never-started' }, { by: 'a test', reason: 'a test' });
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
    await runtime.advance(LEASE_MS);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
    expect(asked).toEqual([]);
  });

  test('that answers neverStarted lets the same attempt run under its own number', async () => {
    const { begin, memory, calls } = await setup(() => neverStarted());
    const attempt = begin();
    expect(await attempt.claim()).toEqual({ kind: 'new', attempt: 2 });
    expect(await memory.inspect('k')).toMatchObject({
      owner: attempt.context.owner,
      attempt: 2,
    });
    await attempt.admit();
    expect(() => attempt.start()).not.toThrow();
    expect(calls.toString()).toBe('claim takeOver');
  });

  test('that answers done saves it, for this client and every retry, and nothing runs', async () => {
    const { begin, memory } = await setup(async () => done(FOUND));
    const attempt = begin();
    const { response } = done(FOUND);
    expect(await attempt.claim()).toEqual({ kind: 'replay', response });
    await expect(attempt.admit()).rejects.toThrow('ended');
    expect(await begin().claim()).toEqual({ kind: 'replay', response });
    expect(await memory.inspect('k')).toMatchObject({ state: 'completed', attempt: 2 });
    expect(names()).toBe('taken-over completed replayed');
  });

  test('that answers done while the store takes nothing is told as unavailable, and saved later', async () => {
    const { begin, calls, runtime } = await setup(() => done(FOUND));
    calls.plan('complete', rejects(), 100);
    const claim = begin().claim();
    await runtime.advance(15_000);
    expect(await claim).toEqual({ kind: 'unavailable' });
    calls.heal();
    await runtime.advance(5_000);
    expect(await begin().claim()).toMatchObject({ kind: 'replay' });
  });

  test('that answers done after another took the key changes nothing', async () => {
    const { begin, memory, runtime } = await setup(async (context) => {
      if (context.attempt > 2) return unknown();
      await memory.settle('k', { kind: 'unknown', response: done(BY_HAND).response }, NOTE, {
        force: true,
      });
      return done(FOUND);
    });
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: true });
    const { response } = done(BY_HAND);
    expect(await begin().claim()).toEqual({ kind: 'replay', response });
    expect(runtime.timers).toBe(0);
  });

  test.each<[string, SealedOptions['recover'], boolean]>([
    ['answers unknown', () => unknown(), false],
    [
      'throws',
      () => {
        throw new Error('resource down');
      },
      true,
    ],
    ['rejects', () => Promise.reject(new Error('resource down')), true],
    ['answers nothing', () => undefined as never, true],
    ['answers null', () => null as never, true],
    ['answers nonsense', () => ({ kind: 'new' }) as never, true],
    ['answers done without a response', () => ({ kind: 'done' }) as never, true],
    ['answers done that HTTP cannot carry', () => carried(150), true],
    ['answers done with words', () => ({ kind: 'done', response: { status: 201 } }) as never, true],
  ])('that %s leaves the key pending and ends its lease', async (_, recover, isFailure) => {
    const { begin, memory, runtime, calls } = await setup(recover);
    const attempt = begin();
    expect(await attempt.claim()).toEqual({ kind: 'pending', leaseOver: true });
    await expect(attempt.admit()).rejects.toThrow('dead');
    expect(await memory.inspect('k')).toMatchObject({
      state: 'pending',
      attempt: 2,
      leaseUntilMs: runtime.nowMs(),
    });
    expect(calls.toString()).toBe('claim takeOver release');
    expect(names()).toBe(`taken-over ${isFailure ? 'recover-failed ' : ''}released pending`);
    expect(runtime.timers).toBe(0);
    await begin().claim();
    expect(await memory.inspect('k')).toMatchObject({ attempt: 3 });
  });

  test('that hangs is given up after recoverTimeoutMs, whatever it says later', async () => {
    let answer: (value: ReturnType<typeof neverStarted>) => void = () => {};
    const { begin, memory, runtime } = await setup(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const attempt = begin();
    const claim = attempt.claim();
    await runtime.advance(4_999);
    expect(names()).toBe('taken-over');
    await runtime.advance(1);
    expect(await claim).toEqual({ kind: 'pending', leaseOver: true });
    answer(neverStarted());
    await settled();
    expect(() => attempt.start()).toThrow('dead');
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
  });

  test('that is not acknowledged as over is released in the background', async () => {
    const { begin, memory, runtime, calls } = await setup(() => unknown());
    calls.plan('release', rejects(), 2);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: true });
    expect(await memory.inspect('k')).toMatchObject({ leaseUntilMs: 2 * LEASE_MS });
    await runtime.advance(MINUTE_MS / 2);
    const { leaseUntilMs = 0 } = (await memory.inspect('k')) ?? {};
    expect(leaseUntilMs).toBeLessThan(2 * LEASE_MS);
  });
});

const BY_HAND = { status: 409, body: 'by hand' };
const NOTE = { by: 'a test', reason: 'a test' };

/** What `done` would not have made. */
function carried(status: number) {
  const { kind, response } = done(FOUND);
  return { kind, response: { ...response, status } } as const;
}

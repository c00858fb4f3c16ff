import { AttemptContext } from '../../src/core/attempt-context.ts';
import { background } from '../../src/core/background.ts';
import { blind, keyed } from '../../src/core/recovery.ts';
import { done } from '../../src/core/recovery-outcome.ts';
import type { HandlerPowers } from '../../src/core/running-attempt.ts';
import { MINUTE_MS, RESPONSE } from './attempt-rig.ts';
import { rejects } from './planned-calls.ts';
import { contextOf, hearEvents, LEASE_MS, recoveryRig } from './recovery-rig.ts';

const FAILED = { ...RESPONSE, status: 503 };
const setup = () => recoveryRig(blind());

afterEach(() => {
  expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
});

describe('the word neverStarted', () => {
  const { names } = hearEvents();

  test.each([400, 500, 503])('with an answer of %d gives the key back', async (status) => {
    const { run, begin, calls } = setup();
    const attempt = await run();
    attempt.sayNeverStarted();
    expect(attempt.hasToConclude(status < 500)).toBe(true);
    expect(await attempt.conclude({ ...FAILED, status }, status < 500)).toEqual({ kind: 'undone' });
    expect(calls.toString()).toBe('claim release');
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('is not believed of an answer below 400, which is saved', async () => {
    const { run, begin } = setup();
    const attempt = await run();
    attempt.sayNeverStarted();
    expect(await attempt.conclude(RESPONSE, true)).toEqual({ kind: 'saved' });
    expect(await begin().claim()).toEqual({ kind: 'replay', response: RESPONSE });
  });

  test('is not believed of an answer below 400 that is no outcome, which leaves the key', async () => {
    const { run, begin, calls } = setup();
    const attempt = await run();
    attempt.sayNeverStarted();
    expect(await attempt.conclude(RESPONSE, false)).toEqual({ kind: 'undone' });
    expect(calls.count('release')).toBe(0);
    expect(await begin().claim()).toEqual({ kind: 'pending' });
    expect(names()).toBe('claimed left-pending pending');
  });

  test('lets the answer leave when the store does not take the key back at once', async () => {
    const { run, begin, calls, runtime } = setup();
    calls.plan('release', rejects(), 2);
    const attempt = await run();
    attempt.sayNeverStarted();
    expect(await attempt.conclude(FAILED, false)).toEqual({ kind: 'undone' });
    await runtime.advance(1_000);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test('of an attempt that was taken over changes nothing', async () => {
    const { runInStoppedProcess, runtime, run, memory } = recoveryRig(
      keyed({ rerunWithinMs: 60 * MINUTE_MS }),
    );
    const stopped = await runInStoppedProcess();
    await runtime.advance(LEASE_MS);
    await run();
    stopped.sayNeverStarted();
    expect(await stopped.conclude(FAILED, false)).toEqual({ kind: 'undone' });
    expect(await memory.inspect('k')).toMatchObject({
      state: 'pending',
      attempt: 2,
      leaseUntilMs: 2 * LEASE_MS,
    });
  });

  test('says nothing before the handler runs, nor after its answer', async () => {
    const { begin, calls } = setup();
    const attempt = begin();
    attempt.sayNeverStarted();
    await attempt.claim();
    await attempt.admit();
    attempt.sayNeverStarted();
    attempt.start();
    expect(attempt.hasToConclude(false)).toBe(false);
    attempt.leavePending(503);
    attempt.sayNeverStarted();
    expect(attempt.hasToConclude(false)).toBe(false);
    expect(calls.toString()).toBe('claim');
  });
});

describe('an outcome that is settled', () => {
  const { names } = hearEvents();

  test('is saved in place of an answer', async () => {
    const { run, begin } = setup();
    const attempt = await run();
    expect(await attempt.settle(FAILED)).toEqual({ kind: 'saved' });
    expect(await begin().claim()).toEqual({ kind: 'replay', response: FAILED });
    await expect(attempt.settle(RESPONSE)).rejects.toMatchObject({ code: 'already_answered' });
  });

  test('is not left behind by an answer that comes after it', async () => {
    const { run } = setup();
    const attempt = await run();
    await attempt.settle(FAILED);
    attempt.leavePending(500);
    expect([attempt.isLeft, names()]).toEqual([false, 'claimed completed']);
  });

  test('is refused after what the attempt did was undone', async () => {
    const { run, calls } = setup();
    const attempt = await run();
    attempt.sayNeverStarted();
    await attempt.conclude(FAILED, false);
    await expect(attempt.settle(RESPONSE)).rejects.toMatchObject({ code: 'already_answered' });
    expect(calls.count('complete')).toBe(0);
  });

  test('is saved after an answer that was no outcome, and is counted as running', async () => {
    const { run, begin, calls, runtime, running } = setup();
    const attempt = await run();
    expect(running()).toBe(1);
    expect(attempt.hasToConclude(false)).toBe(false);
    expect(attempt.isLeft).toBe(false);
    attempt.leavePending(503);
    expect([attempt.isLeft, running()]).toEqual([true, 0]);
    calls.plan('complete', rejects());
    const saving = attempt.settle(RESPONSE);
    expect([attempt.isLeft, running()]).toEqual([false, 1]);
    await runtime.advance(1_000);
    expect(await saving).toEqual({ kind: 'saved' });
    expect(running()).toBe(0);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: RESPONSE });
    expect(names()).toBe('claimed left-pending save-failed completed replayed');
  });

  test('is saved after the answer was destroyed', async () => {
    const { run, begin, calls } = setup();
    const attempt = await run();
    attempt.abandon();
    expect(attempt.hasToConclude(true)).toBe(false);
    expect(await begin().claim()).toEqual({ kind: 'pending' });
    expect(await attempt.settle(RESPONSE)).toEqual({ kind: 'saved' });
    expect(calls.count('release')).toBe(0);
  });
});

describe('what an attempt is asked by its handler', () => {
  function powersOf() {
    const said: unknown[] = [];
    const powers: HandlerPowers = {
      tx: () => 'tx',
      commitSync: (write) => void said.push(write),
      settle: async (outcome) => {
        said.push(outcome);
        return 'saved';
      },
    };
    const context = contextOf('owner');
    return { context, powers, said };
  }

  test('is refused before the handler runs', async () => {
    const { context } = powersOf();
    const error = expect.objectContaining({ code: 'transaction_over' });
    expect(() => context.tx).toThrow(error);
    expect(() => context.commitSync(() => ({ status: 200 }))).toThrow(error);
    await expect(context.settle(done({ status: 200 }))).rejects.toEqual(error);
  });

  test.each([
    { status: 150 },
    { status: 5_000 },
    { headers: [['X-A', 'a\r\nb']] },
    { headers: [['X A', 'b']] },
    { headers: [['Content-Length', '9']] },
    { reason: 'a\r\nb' },
    { reason: 7 },
    { removedNames: ['x a'] },
    { removedNames: [7] },
  ])('is refused when HTTP cannot carry it, and is saved by nobody: %j', async (change) => {
    const { context, powers, said } = powersOf();
    AttemptContext.claimed(context, 1);
    AttemptContext.started(context, powers);
    const { response } = done({ status: 200 });
    const outcome = { kind: 'done', response: { ...response, ...change } };
    await expect(context.settle(outcome as never)).rejects.toMatchObject({
      code: 'option_invalid',
    });
    expect(said).toEqual([]);
  });

  test('may be one that was too large to keep', async () => {
    const { context, powers, said } = powersOf();
    AttemptContext.claimed(context, 1);
    AttemptContext.started(context, powers);
    const outcome = { kind: 'done', response: { kept: false, status: 201 } } as const;
    expect(await context.settle(outcome as never)).toBe('saved');
    expect(said).toEqual([outcome]);
  });

  test('is passed on to what runs it', async () => {
    const { context, powers, said } = powersOf();
    AttemptContext.claimed(context, 1);
    AttemptContext.started(context, powers);
    const write = () => ({ status: 200 });
    const outcome = done({ status: 200 });
    context.commitSync(write);
    expect([context.tx, await context.settle(outcome)]).toEqual(['tx', 'saved']);
    expect(said).toEqual([write, outcome]);
  });

  test.each([
    undefined,
    null,
    7,
    { status: 200 },
    { kind: 'done' },
    { kind: 'done', response: { status: 200 } },
    { kind: 'unknown', response: RESPONSE },
    { kind: 'never-started' },
  ])('is to settle by done(…), and not by %p', async (outcome) => {
    const { context, powers, said } = powersOf();
    AttemptContext.started(context, powers);
    const error = expect.objectContaining({ code: 'option_invalid' });
    await expect(context.settle(outcome as never)).rejects.toEqual(error);
    expect(said).toEqual([]);
  });

  test('is to write by a function', () => {
    const { context, powers } = powersOf();
    AttemptContext.started(context, powers);
    const error = expect.objectContaining({ code: 'option_invalid' });
    expect(() => context.commitSync('INSERT' as never)).toThrow(error);
  });
});

import { background } from '../../src/core/background.ts';
import { IdempotencyError } from '../../src/core/errors.ts';
import { blind, keyed, transactional } from '../../src/core/recovery.ts';
import { MINUTE_MS, RESPONSE } from './attempt-rig.ts';
import { ManualRuntime, settled } from './manual-runtime.ts';
import { answers, appliesThenRejects, HANGS, held, rejects } from './planned-calls.ts';
import { contextOf, hearEvents, LEASE_MS, recoveryRig } from './recovery-rig.ts';

const WINDOW_MS = 60 * MINUTE_MS;
const setup = () => recoveryRig(keyed({ rerunWithinMs: WINDOW_MS }));

describe('a key whose attempt went quiet', () => {
  const { names, heard } = hearEvents();
  afterEach(() => {
    expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
  });

  test('is not taken over while the lease holds, and the store is not asked to', async () => {
    const { runtime, memory, begin, calls } = setup();
    await memory.claim('k', 'f', contextOf('dead', LEASE_MS));
    await runtime.advance(LEASE_MS - 1);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
    expect(calls.toString()).toBe('claim');
  });

  test('is taken over after its lease by one of two, who is told the next number', async () => {
    const { abandon, begin, calls } = setup();
    await abandon();
    const [one, other] = [begin(), begin()];
    const claims = await Promise.all([one.claim(), other.claim()]);
    expect(claims).toEqual([
      { kind: 'new', attempt: 2 },
      { kind: 'pending', leaseOver: true },
    ]);
    expect(one.context.attempt).toBe(2);
    expect(Object.isFrozen(one.context)).toBe(true);
    expect(calls.toString()).toBe('claim claim takeOver takeOver');
    expect(names()).toBe('taken-over pending');
    expect(heard[0]?.attempt).toBe(2);
  });

  test('is asked for where the store does not say whether the lease is over', async () => {
    const { abandon, begin, calls } = setup();
    await abandon();
    calls.plan('claim', answers({ kind: 'pending' }));
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 2 });
  });

  test('is never taken over in the mode that nothing makes safe', async () => {
    const { abandon, begin, calls, runtime } = recoveryRig(blind());
    await abandon();
    await runtime.advance(1_000 * MINUTE_MS);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: true });
    expect(calls.toString()).toBe('claim');
  });

  test('is not taken over by a request for something else', async () => {
    const { abandon, memory, begin, calls } = setup();
    await memory.claim('k', 'other', contextOf('dead', LEASE_MS));
    await abandon();
    expect(await begin().claim()).toEqual({ kind: 'conflict' });
    expect(calls.toString()).toBe('claim');
  });

  test('runs again up to the end of the window of a keyed provider, and not after it', async () => {
    const { abandon, begin, runtime, memory } = setup();
    await abandon();
    await runtime.advance(WINDOW_MS - LEASE_MS + 1);
    const late = begin();
    expect(await late.claim()).toEqual({ kind: 'pending', leaseOver: true });
    await expect(late.admit()).rejects.toThrow('dead');
    expect(await memory.inspect('k')).toMatchObject({ attempt: 1, owner: 'dead' });
    const timely = setup();
    await timely.abandon();
    await timely.runtime.advance(WINDOW_MS - LEASE_MS);
    expect(await timely.begin().claim()).toEqual({ kind: 'new', attempt: 2 });
  });

  test('counts the window from the first claim, whoever took the key over since', async () => {
    const { abandon, runInStoppedProcess, begin, runtime } = setup();
    await abandon();
    await runtime.advance(WINDOW_MS - 2 * LEASE_MS);
    await runInStoppedProcess();
    await runtime.advance(LEASE_MS + 1);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: true });
  });

  test('is run again in a transaction, under the next number and asked of admit', async () => {
    const { abandon, begin, calls } = recoveryRig((database) => transactional(database));
    await abandon();
    const attempt = begin();
    expect(await attempt.claim()).toEqual({ kind: 'new', attempt: 2 });
    await attempt.admit((context) => (context.attempt === 2 ? 0 : 429));
    expect(await attempt.openTransaction()).toBe(true);
    expect(calls.toString()).toBe('claim takeOver begin');
  });

  test('stays at its number when admit refuses, and can be taken over at once', async () => {
    const { abandon, begin, memory } = setup();
    await abandon();
    const refused = begin();
    await refused.claim();
    expect(await refused.admit(() => 429)).toBe(429);
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 3 });
    expect(names()).toBe('taken-over released refused taken-over');
  });

  test('is saved by the attempt that took it, and never by the one that wakes up', async () => {
    const { runInStoppedProcess, runtime, run, memory, begin } = setup();
    const stopped = await runInStoppedProcess();
    await runtime.advance(LEASE_MS);
    const winner = await run();
    expect(await stopped.complete(OTHER)).toMatchObject({
      kind: 'superseded',
      found: { state: 'pending', attempt: 2 },
    });
    await winner.complete(RESPONSE);
    expect((await memory.inspect('k'))?.response).toEqual(RESPONSE);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: RESPONSE });
  });

  test('tells the one that wakes up what the winner has saved', async () => {
    const { runInStoppedProcess, runtime, run } = setup();
    const stopped = await runInStoppedProcess();
    await runtime.advance(LEASE_MS);
    await (await run()).complete(RESPONSE);
    expect(await stopped.complete(OTHER)).toMatchObject({
      kind: 'superseded',
      found: { state: 'completed', response: RESPONSE },
    });
    expect(names()).toContain('superseded');
  });

  test('is superseded while its outcome is being saved in the background, which ends that', async () => {
    const { run, runtime, calls, memory } = setup();
    const attempt = await run();
    calls.plan('complete', rejects(), 100);
    const saving = attempt.complete(RESPONSE);
    await runtime.advance(15_000);
    expect(await saving).toEqual({ kind: 'unsaved' });
    const note = { by: 'a test', reason: 'a test' };
    await memory.settle('k', { kind: 'unknown', response: RESPONSE }, note, { force: true });
    calls.heal();
    await runtime.advance(5_000);
    expect(names()).toMatch(/unsaved .*superseded/);
    expect(names()).not.toContain('completed');
    expect(runtime.timers).toBe(0);
  });

  test('is not freed by the release of one that wakes up', async () => {
    const { runtime, run, begin, memory } = setup();
    const stopped = begin({ runtime: new ManualRuntime() });
    await stopped.claim();
    await runtime.advance(LEASE_MS);
    await run();
    await stopped.admit(() => 503);
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
  });
});

describe('a takeover', () => {
  const { names } = hearEvents();

  test('whose reply is lost lets nothing run, and ends the lease that it may have taken', async () => {
    const { abandon, begin, calls, memory, runtime } = setup();
    await abandon();
    calls.plan('takeOver', appliesThenRejects());
    const attempt = begin();
    expect(await attempt.claim()).toEqual({ kind: 'unavailable' });
    expect(() => attempt.start()).toThrow('dead');
    await settled();
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 3 });
    expect(names()).toBe('claim-failed released taken-over');
    await runtime.advance(MINUTE_MS);
  });

  test('that hangs is answered in time, and is released again when it has been applied', async () => {
    const { abandon, begin, calls, memory, runtime } = setup();
    await abandon();
    const { plan, letGo } = held();
    calls.plan('takeOver', plan);
    const claim = begin().claim();
    await runtime.advance(5_000);
    expect(await claim).toEqual({ kind: 'unavailable' });
    expect(calls.toString()).toBe('claim takeOver release');
    letGo();
    await settled();
    expect(calls.toString()).toBe('claim takeOver release release');
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 3 });
    await runtime.advance(11 * MINUTE_MS);
  });

  test('that is never answered keeps nothing going for ever', async () => {
    const { abandon, begin, calls, runtime } = setup();
    await abandon();
    calls.plan('takeOver', HANGS);
    const claim = begin().claim();
    await runtime.advance(11 * MINUTE_MS);
    expect(await claim).toEqual({ kind: 'unavailable' });
    expect(runtime.timers).toBe(0);
  });

  test('that rejects lets nothing run', async () => {
    const { abandon, begin, calls, memory, runtime } = setup();
    await abandon();
    calls.plan('takeOver', rejects());
    expect(await begin().claim()).toEqual({ kind: 'unavailable' });
    await runtime.advance(MINUTE_MS);
    expect(await memory.inspect('k')).toMatchObject({ owner: 'dead', attempt: 1 });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an unknown kind', { kind: 'new', attempt: 2 }],
    ['no number', { kind: 'taken' }],
    ['the first number', { kind: 'taken', attempt: 1 }],
    ['half a number', { kind: 'taken', attempt: 2.5 }],
  ])('answered with %s is an error, and nothing runs', async (_, answer) => {
    const { abandon, begin, calls, runtime } = setup();
    await abandon();
    calls.plan('takeOver', answers(answer));
    const attempt = begin();
    const error = await attempt.claim().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IdempotencyError);
    expect(error).toMatchObject({ code: 'store_answer_invalid' });
    expect(() => attempt.start()).toThrow('dead');
    await runtime.advance(MINUTE_MS);
    expect(calls.count('release')).toBe(2);
  });

  test.each(['too-late', 'not-taken'] as const)('answered %s leaves the key', async (kind) => {
    const { abandon, begin, calls } = setup();
    await abandon();
    calls.plan('takeOver', answers({ kind }));
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: true });
    expect(calls.toString()).toBe('claim takeOver');
  });
});

const OTHER = { ...RESPONSE, kept: true, status: 200, body: Buffer.from('not made') } as never;

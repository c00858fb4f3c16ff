import { background } from '../../src/core/background.ts';
import { blind, keyed, sealed, transactional } from '../../src/core/recovery.ts';
import { MINUTE_MS, RESPONSE } from './attempt-rig.ts';
import { settled } from './manual-runtime.ts';
import { answers, appliesThenRejects, HANGS, held, rejects } from './planned-calls.ts';
import { hearEvents, LEASE_MS, recoveryRig } from './recovery-rig.ts';

const THIRD_MS = LEASE_MS / 3;

describe('the lease of a running handler', () => {
  const { names, heard } = hearEvents();
  afterEach(() => {
    expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
  });

  const setup = () => recoveryRig(keyed({ rerunWithinMs: 60 * MINUTE_MS }));

  test('is renewed for as long as the handler runs, and nobody takes its key over', async () => {
    const { runtime, run, begin, calls } = setup();
    await run();
    await runtime.advance(5 * MINUTE_MS);
    expect(calls.count('renew')).toBe(15);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
    expect(calls.count('takeOver')).toBe(0);
  });

  test('is not renewed any more once the outcome is saved', async () => {
    const { runtime, run, calls } = setup();
    const attempt = await run();
    await runtime.advance(THIRD_MS);
    await attempt.complete(RESPONSE);
    expect(runtime.timers).toBe(0);
    await runtime.advance(5 * MINUTE_MS);
    expect(calls.toString()).toBe('claim renew complete');
  });

  test('is renewed while the outcome is being saved, until that is acknowledged', async () => {
    const { runtime, run, calls, memory } = setup();
    const attempt = await run();
    calls.plan('complete', rejects(), 100);
    const saving = attempt.complete(RESPONSE);
    await runtime.advance(2 * MINUTE_MS);
    expect(await saving).toEqual({ kind: 'unsaved' });
    expect(calls.count('renew')).toBe(6);
    calls.heal();
    await runtime.advance(5_000);
    expect((await memory.inspect('k'))?.state).toBe('completed');
    const renewals = calls.count('renew');
    await runtime.advance(5 * MINUTE_MS);
    expect(calls.count('renew')).toBe(renewals);
  });

  test('is not renewed any more once saving in the background is given up', async () => {
    const { runtime, run, calls } = recoveryRig(
      keyed({ rerunWithinMs: 60 * MINUTE_MS, maxRunMs: 60 * MINUTE_MS }),
    );
    const attempt = await run();
    calls.plan('complete', rejects(), 10_000);
    void attempt.complete(RESPONSE);
    await runtime.advance(11 * MINUTE_MS);
    expect(names()).toContain('gave-up');
    expect(runtime.timers).toBe(0);
    // Ten minutes and a quarter, from sign to sign.
    expect(calls.count('renew')).toBe(30);
  });

  test('is renewed for maxRunMs at most, so that a handler that never answers frees its key', async () => {
    const { runtime, run, begin, calls } = setup();
    await run();
    await runtime.advance(10 * MINUTE_MS);
    expect(names()).toBe('claimed lease-ended');
    expect(runtime.timers).toBe(0);
    await runtime.advance(LEASE_MS);
    expect(calls.count('renew')).toBe(29);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 2 });
  });

  test('is renewed by the next sign when one fails', async () => {
    const { runtime, run, begin, calls } = setup();
    await run();
    calls.plan('renew', rejects());
    await runtime.advance(LEASE_MS);
    expect(names()).toBe('claimed renew-failed');
    expect(calls.count('renew')).toBe(3);
    await runtime.advance(THIRD_MS - 1);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
  });

  test('is renewed in time when a sign hangs, and every second one too', async () => {
    const { runtime, run, begin, calls } = setup();
    await run();
    for (let minute = 0; minute < 4; minute += 1) {
      calls.plan('renew', HANGS);
      await runtime.advance(2 * THIRD_MS);
      expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
      await runtime.advance(THIRD_MS - 1);
      expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
      await runtime.advance(1);
    }
    expect(names()).toContain('renew-failed');
  });

  test('of a few seconds is renewed again before it ends when a sign hangs', async () => {
    const { runtime, run, begin, calls } = recoveryRig(
      keyed({ rerunWithinMs: MINUTE_MS, leaseMs: 3_000 }),
    );
    await run();
    calls.plan('renew', HANGS);
    await runtime.advance(2_999);
    expect(calls.count('renew')).toBe(2);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
  });

  test('whose renewal was applied and its reply lost still holds', async () => {
    const { runtime, run, begin, calls } = setup();
    await run();
    calls.plan('renew', appliesThenRejects());
    await runtime.advance(LEASE_MS + 1);
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: false });
  });

  test('is not asked for again once the record is not its own any more', async () => {
    const { runtime, run, memory, calls } = setup();
    await run();
    await memory.settle('k', { kind: 'never-started' }, NOTE, { force: true });
    await runtime.advance(5 * MINUTE_MS);
    expect(names()).toBe('claimed renew-failed');
    expect(calls.count('renew')).toBe(1);
  });

  test('that a late sign finds completed is no failure', async () => {
    const { runtime, run, calls } = setup();
    const attempt = await run();
    const { plan, letGo } = held();
    calls.plan('renew', plan);
    await runtime.advance(THIRD_MS);
    await attempt.complete(RESPONSE);
    letGo();
    await settled();
    await runtime.advance(MINUTE_MS);
    expect(names()).toBe('claimed completed');
    expect(calls.toString()).toBe('claim renew complete');
  });

  test('that a late sign has renewed is not renewed again after the end', async () => {
    const { runtime, run, calls } = setup();
    const attempt = await run();
    const { plan, letGo } = held();
    calls.plan('renew', () => plan(() => undefined));
    await runtime.advance(THIRD_MS);
    await attempt.complete(RESPONSE);
    letGo();
    await runtime.advance(MINUTE_MS);
    expect(runtime.timers).toBe(0);
    expect(calls.count('renew')).toBe(1);
  });

  test('is not renewed by a handler that has ended without an outcome', async () => {
    const { runtime, run, begin, calls } = setup();
    const attempt = await run();
    attempt.leavePending(500);
    await runtime.advance(LEASE_MS);
    expect(calls.count('renew')).toBe(0);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 2 });
  });

  test('is renewed again while an outcome that came too late is being saved', async () => {
    const { runtime, run, calls } = setup();
    const attempt = await run();
    attempt.leavePending(503);
    calls.plan('complete', rejects(), 100);
    const saving = attempt.settle(RESPONSE);
    await runtime.advance(MINUTE_MS);
    expect(await saving).toEqual({ kind: 'unsaved' });
    expect(calls.count('renew')).toBe(3);
    calls.heal();
    await runtime.advance(5_000);
  });

  test('is renewed for no longer than maxRunMs in all where the outcome came late', async () => {
    const { runtime, run, calls } = recoveryRig(
      keyed({ rerunWithinMs: 60 * MINUTE_MS, maxRunMs: LEASE_MS }),
    );
    const attempt = await run();
    await runtime.advance(2 * THIRD_MS);
    const before = calls.count('renew');
    attempt.leavePending(503);
    calls.plan('complete', rejects(), 100);
    const saving = attempt.settle(RESPONSE);
    await runtime.advance(MINUTE_MS);
    expect(await saving).toEqual({ kind: 'unsaved' });
    expect(calls.count('renew')).toBe(before);
    calls.heal();
    await runtime.advance(5_000);
  });

  test('is renewed while recover looks', async () => {
    const recover = () => new Promise<never>(() => {});
    const { runtime, abandon, begin, calls } = recoveryRig(
      sealed({ recover, recoverTimeoutMs: 2 * LEASE_MS }),
    );
    await abandon();
    const claim = begin().claim();
    await runtime.advance(LEASE_MS + THIRD_MS);
    expect(calls.count('renew')).toBe(4);
    await runtime.advance(LEASE_MS);
    expect(await claim).toEqual({ kind: 'pending', leaseOver: true });
  });

  test('is renewed while admit thinks', async () => {
    const { runtime, begin, calls } = setup();
    const attempt = begin({ admitTimeoutMs: 2 * LEASE_MS });
    await attempt.claim();
    const admitted = attempt.admit(() => new Promise(() => {}));
    await runtime.advance(LEASE_MS + THIRD_MS);
    expect(calls.count('renew')).toBe(4);
    await runtime.advance(LEASE_MS);
    expect(await admitted).toBe(503);
  });

  test.each([
    ['in a transaction, whose limits are shorter', transactional()],
    ['where nothing is taken over', blind()],
  ])('is not renewed %s', async (_, recovery) => {
    const { runtime, run, calls } = recoveryRig(recovery);
    await run();
    await runtime.advance(5 * MINUTE_MS);
    expect(calls.count('renew')).toBe(0);
  });

  test('is renewed where an abandoned key ends as unknown', async () => {
    const { runtime, run, calls } = recoveryRig(blind({ onAbandoned: 'unknown' }));
    await run();
    calls.plan('renew', answers(undefined));
    await runtime.advance(LEASE_MS);
    expect(calls.count('renew')).toBe(3);
    expect(heard.map(({ attempt }) => attempt)).toEqual([1]);
  });
});

const NOTE = { by: 'a test', reason: 'a test' };

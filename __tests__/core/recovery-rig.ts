import { activityOf } from '../../src/core/activity.ts';
import { AttemptMachine } from '../../src/core/attempt.ts';
import { AttemptContext } from '../../src/core/attempt-context.ts';
import type { AttemptSettings } from '../../src/core/attempt-settings.ts';
import type { IdempotencyEvent } from '../../src/core/events.ts';
import type { Recovery } from '../../src/core/recovery.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { ManualRuntime } from './manual-runtime.ts';
import { hearOwn } from './own-events.ts';
import { PlannedCalls } from './planned-calls.ts';
import { FakeDatabase, plannedStore } from './planned-store.ts';

export const LEASE_MS = 60_000;

/** Attempts at one key in a recovery mode, in a time that the test moves. */
export function recoveryRig(modeOf: Recovery | ((database: FakeDatabase) => Recovery)) {
  const runtime = new ManualRuntime();
  const calls = new PlannedCalls();
  const memory = new MemoryStore({ now: () => runtime.nowMs() });
  const store = plannedStore(memory, calls);
  const database = new FakeDatabase(memory, calls);
  const recovery = typeof modeOf === 'function' ? modeOf(database) : modeOf;
  const settings: AttemptSettings = {
    store,
    runtime,
    storeTimeoutMs: 5_000,
    admitTimeoutMs: 5_000,
    saveTimeoutMs: 15_000,
    recovery,
  };
  const begin = (over: Partial<AttemptSettings> = {}) =>
    new AttemptMachine(contextOf(runtime.newOwner(), recovery.leaseMs), { ...settings, ...over });
  /** Up to its handler. */
  const run = async (over: Partial<AttemptSettings> = {}) => {
    const attempt = begin(over);
    const claim = await attempt.claim();
    if (claim.kind !== 'new') throw new Error(`The claim was answered ${claim.kind}.`);
    await attempt.admit();
    await attempt.openTransaction();
    attempt.start();
    return attempt;
  };
  /** A claim of a process that has ended, and whose lease has ended too. */
  const abandon = async () => {
    await memory.claim('k', 'f', contextOf('dead', LEASE_MS));
    await runtime.advance(LEASE_MS);
  };
  /** An attempt whose process is stopped: no timer of it fires. */
  const runInStoppedProcess = () => run({ runtime: new ManualRuntime() });
  /** Attempts between their claim and their answer. */
  const activity = activityOf(store);
  const running = () => activity.running;
  const attempts = { begin, run, abandon, runInStoppedProcess, running };
  return { runtime, calls, memory, database, activity, ...attempts };
}

export function contextOf(owner: string, leaseMs?: number): AttemptContext {
  const names = { tenant: undefined, operation: undefined };
  const identity = { key: 'k', recordKey: 'k', fingerprint: 'f', ...names };
  return new AttemptContext(identity, owner, () => {}, leaseMs);
}

/** Hears all events of each test of the file. */
export function hearEvents() {
  const heard: IdempotencyEvent[] = [];
  let end: () => void;
  beforeEach(() => {
    heard.length = 0;
    end = hearOwn((event) => heard.push(event));
  });
  afterEach(() => end());
  return { names: () => heard.map(({ name }) => name).join(' '), heard };
}

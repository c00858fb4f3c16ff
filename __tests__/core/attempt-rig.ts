import { AttemptMachine } from '../../src/core/attempt.ts';
import { AttemptContext } from '../../src/core/attempt-context.ts';
import type { SavedResponse } from '../../src/core/saved-response.ts';
import type { IdempotencyStore } from '../../src/core/store.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { ManualRuntime } from './manual-runtime.ts';

export const MINUTE_MS = 60_000;

export const RESPONSE: SavedResponse = {
  kept: true,
  status: 201,
  headers: [['ETag', '"a"']],
  removedNames: [],
  body: Buffer.from('made'),
};

/** Attempts at one key, on a store with faults, in a time that the test moves. */
export function attemptRig(store: IdempotencyStore = new MemoryStore()) {
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

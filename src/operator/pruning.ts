import type { IdempotencyStore } from '../core/store.ts';
import { offering } from './capability.ts';

/** How {@link prune} goes about it. */
export interface PruneOptions {
  /** How many records are changed in one step. @default 1000 */
  readonly batchSize?: number;
  /** Ends it after the step that is under way. */
  readonly signal?: AbortSignal;
}

/**
 * Removes what retention has ended, step by step until nothing is left of it, and answers how many
 * records were changed. Pending records stay. Safe to run on many replicas at once, and to stop at
 * any moment; a long-running service takes `startPruning` of its store instead.
 *
 * Needs the capability `prune`, which RedisStore has not: there records end by themselves.
 *
 * @throws {IdempotencyError} `capability_missing`.
 */
export async function prune(store: IdempotencyStore, options: PruneOptions = {}): Promise<number> {
  const capable = offering(store, 'prune');
  const { batchSize: limit = 1_000, signal } = options;
  const step = signal === undefined ? { limit } : { limit, signal };
  let changed = 0;
  while (signal?.aborted !== true) {
    const count = await capable.prune(step);
    if (count === 0) break;
    changed += count;
  }
  return changed;
}

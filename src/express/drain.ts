import { activityOf, isIdle } from '../core/activity.ts';
import { checkArgument, checkOptions, milliseconds } from '../core/option-check.ts';
import type { IdempotencyStore } from '../core/store.ts';
import { NODE_RUNTIME } from './node-runtime.ts';

/** The options of {@link drain}. */
export interface DrainOptions {
  /** How long to wait for what is under way. @default 10000 */
  readonly timeoutMs?: number;
}

/** What was still under way when {@link drain} ended. */
export interface DrainReport {
  /** Nothing is under way any more: the process may leave. */
  readonly isDrained: boolean;
  /** Handlers that have not answered. In blind mode their keys stay pending. */
  readonly running: number;
  /** Saves and releases that the store has not taken yet. */
  readonly inBackground: number;
}

/**
 * For a process that is told to stop. From now on every middleware on `store` in this process
 * admits no new key (503 `not_admitted`; the client comes again, to another replica); replays are
 * still answered. Resolves when all handlers have been answered and saved, and what is saved and
 * released in the background is done, or after `timeoutMs`. There is no way back.
 *
 * Then close the server, and the store.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export async function drain(
  store: IdempotencyStore,
  options: DrainOptions = {},
): Promise<DrainReport> {
  const isStore = typeof store === 'object' && store !== null;
  checkArgument(DRAIN, isStore, store, 'the store of the middleware');
  checkOptions<DrainOptions>(DRAIN, options, { timeoutMs: milliseconds(0) });
  const { timeoutMs = 10_000 } = options;
  const activity = activityOf(store);
  activity.isDraining = true;
  if (!isIdle(activity)) {
    await new Promise<void>((resolve) => {
      const timer = NODE_RUNTIME.setTimer(end, timeoutMs);
      function end(): void {
        NODE_RUNTIME.clearTimer(timer);
        activity.whenIdle.delete(end);
        resolve();
      }
      activity.whenIdle.add(end);
    });
  }
  const { running, inBackground } = activity;
  return { isDrained: isIdle(activity), running, inBackground };
}

const DRAIN = { name: 'drain(…)', page: 'docs/recovery.md' };

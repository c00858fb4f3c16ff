import { AsyncResource } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';

/** Waits for its turn among the timers of its delay. */
export interface SharedTimer {
  readonly run: () => void;
  readonly endMs: number;
  readonly waiting: Set<SharedTimer>;
}

/** By delay: the timers that are set, in the order in which they end. One of Node's serves all. */
const WAITING = new Map<number, Set<SharedTimer>>();

/**
 * Runs `run` once after `delayMs`, and never before. Every call of a store has a deadline, which
 * hardly ever comes: a timer of Node's for each, set and cleared, costs three times as much.
 */
export function setSharedTimer(run: () => void, delayMs: number): SharedTimer {
  const waiting = WAITING.get(delayMs) ?? begin(delayMs);
  const timer = { run, endMs: performance.now() + delayMs, waiting };
  waiting.add(timer);
  return timer;
}

export function clearSharedTimer(timer: SharedTimer): void {
  timer.waiting.delete(timer);
}

function begin(delayMs: number): Set<SharedTimer> {
  const waiting = new Set<SharedTimer>();
  WAITING.set(delayMs, waiting);
  arm(delayMs, delayMs);
  return waiting;
}

/** The context of whoever sets the first timer must not live on for the others. */
const NO_CONTEXT = new AsyncResource('IdempotencyTimers');

function arm(delayMs: number, afterMs: number): void {
  NO_CONTEXT.runInAsyncScope(() => setTimeout(end, afterMs, delayMs).unref());
}

/** Runs what is due, and comes again for the next one. With none left Node's timer ends, too. */
function end(delayMs: number): void {
  const waiting = WAITING.get(delayMs) as Set<SharedTimer>;
  const nowMs = performance.now();
  try {
    for (const timer of waiting) {
      if (timer.endMs > nowMs) break;
      waiting.delete(timer);
      timer.run();
    }
  } finally {
    const [next] = waiting;
    if (next === undefined) WAITING.delete(delayMs);
    else arm(delayMs, Math.max(1, Math.ceil(next.endMs - nowMs)));
  }
}

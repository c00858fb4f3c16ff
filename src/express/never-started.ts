import { AsyncLocalStorage } from 'node:async_hooks';
import { type NeverStarted, neverStarted as outcome } from '../core/recovery-outcome.ts';

/**
 * As an answer of `recover`, or of an operator: the action was not done, and cannot be done later.
 */
export function neverStarted(): NeverStarted;
/**
 * For a handler that knows that it has begun nothing: `throw neverStarted(error)`, or
 * `next(neverStarted(error))`. The key is given back, and then `error` is answered as ever, so that
 * a retry may run. Without this word an error leaves the key pending, since a handler that failed
 * may have acted. It changes nothing once an answer was begun or another attempt owns the record,
 * and it is not believed of an answer below 400.
 */
export function neverStarted<E>(error: E): E;
export function neverStarted(...args: [] | [unknown]): unknown {
  if (args.length === 0) return outcome();
  running().getStore()?.sayNeverStarted();
  return args[0];
}

/** Whoever runs in the asynchronous context of a handler can be told by it. */
export interface RunningHandler {
  sayNeverStarted(): void;
}

/** Runs `run`, and all that it begins, as the handler of `handler`. */
export function runAs(handler: RunningHandler, run: () => void): void {
  running().run(handler, run);
}

/** One for all copies of the package: the word may come through another copy. */
function running(): AsyncLocalStorage<RunningHandler> {
  const place = globalThis as { [RUNNING]?: AsyncLocalStorage<RunningHandler> };
  place[RUNNING] ??= new AsyncLocalStorage();
  return place[RUNNING];
}

const RUNNING = Symbol.for('express-idempotent.running');

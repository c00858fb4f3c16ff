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
 *
 * It is the word of the request in whose asynchronous context it is said. Say it in the handler, or
 * in what the handler awaits, and never in a callback that is shared between requests, such as a
 * listener on a pool: that may run in the context of another one, whose key would be given back
 * although its handler has acted.
 */
export function neverStarted<E>(error: E): E;
export function neverStarted(...args: [] | [unknown]): unknown {
  if (args.length === 0) return outcome();
  contexts().storage.getStore()?.sayNeverStarted();
  return args[0];
}

/** Whom a handler tells that it has begun nothing. */
export interface NeverStartedListener {
  sayNeverStarted(): void;
}

/** What `run` says, and all that it begins, is told to `listener`, until {@link endContext}. */
export function runAs(listener: NeverStartedListener, run: () => void): void {
  const all = contexts();
  all.open += 1;
  all.storage.run(listener, run);
}

/**
 * The word of one handler counts no more: once for each {@link runAs}, during it or later. Before
 * Node 24 every promise and every tick of the process costs more while any context is kept.
 */
export function endContext(nodeMajor: number = NODE_MAJOR): void {
  const all = contexts();
  all.open -= 1;
  if (all.open === 0 && nodeMajor < 24) all.storage.disable();
}

interface Contexts {
  readonly storage: AsyncLocalStorage<NeverStartedListener>;
  /** How many handlers may still say the word. */
  open: number;
}

/** One for all copies of the package: the word may come through another copy. */
function contexts(): Contexts {
  const place = globalThis as { [RUNNING]?: Contexts };
  place[RUNNING] ??= { storage: new AsyncLocalStorage(), open: 0 };
  return place[RUNNING];
}

const RUNNING = Symbol.for('express-idempotent.running-handlers');
const NODE_MAJOR = Number.parseInt(process.versions.node, 10);

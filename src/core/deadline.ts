import type { Runtime } from './runtime.ts';
import type { StoreCall } from './store.ts';

/** What a call is answered with that did not settle in time. */
export const LATE: unique symbol = Symbol('late');

/**
 * One call with a deadline: its result, its rejection, or {@link LATE} after `timeoutMs`; where
 * `tooLate` is given, a rejection with what that makes in place of `LATE`. What the call does after
 * its deadline is nobody's answer any more, and is never an unhandled rejection.
 */
export function withDeadline<T>(
  runtime: Runtime,
  timeoutMs: number,
  start: (call: StoreCall) => T | PromiseLike<T>,
  tooLate?: (timeoutMs: number) => Error,
): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const call = new Call(timeoutMs);
    const answer = Promise.resolve(start(call));
    const timer = runtime.setTimer(() => {
      if (tooLate === undefined) resolve(LATE);
      else reject(tooLate(timeoutMs));
      call.giveUp();
    }, timeoutMs);
    answer.then(
      (value) => {
        runtime.clearTimer(timer);
        resolve(value);
      },
      (error: unknown) => {
        runtime.clearTimer(timer);
        reject(error);
      },
    );
  });
}

class Call implements StoreCall {
  readonly timeoutMs: number;
  #controller: AbortController | undefined;
  #over = false;

  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
  }

  /** Made on first use: many stores never look at it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over) this.#controller.abort();
    return this.#controller.signal;
  }

  giveUp(): void {
    this.#over = true;
    this.#controller?.abort();
  }
}

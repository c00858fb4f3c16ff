import { IdempotencyError } from '../../core/errors.ts';
import type { StoreCall } from '../../core/store.ts';

/**
 * What `sent` comes to, by the deadline of the call at the latest. Redis answers in order, so a
 * call that is given up disturbs no later one, and its connection goes on.
 *
 * @throws {IdempotencyError} `store_timeout`: whether the call was applied, nobody knows.
 */
export function within<T>(verb: string, call: StoreCall, sent: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const { signal, timeoutMs } = call;
    const giveUp = () => {
      end();
      reject(timedOut(verb, `within ${timeoutMs} ms`));
    };
    const timer = setTimeout(giveUp, timeoutMs);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    signal.addEventListener('abort', giveUp);
    sent.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}

export function timedOut(verb: string, when: string): IdempotencyError {
  const message = `${verb}: Redis did not answer ${when}. Whether it was applied is not known.`;
  return new IdempotencyError('store_timeout', message);
}

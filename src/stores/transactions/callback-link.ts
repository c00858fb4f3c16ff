import { isUndone } from '../../core/transaction.ts';
import type { CallbackTransaction } from './by-callback.ts';
import type { TransactionLink } from './guarded-transaction.ts';

/**
 * The link to a transaction that a library ends by itself, and whose connection it keeps to itself:
 * it lends it to nobody else before the server has acknowledged the end.
 */
export function callbackLink<T>(
  begun: CallbackTransaction<unknown>,
  tx: T,
  run: TransactionLink<T>['run'],
  abandon: (begun: CallbackTransaction<unknown>) => void,
  afterCommit: (error: unknown) => unknown,
): TransactionLink<T> {
  return {
    tx,
    run,
    commit: async () => {
      try {
        await begun.commit();
      } catch (error) {
        throw isUndone(error) ? error : afterCommit(error);
      }
    },
    rollback: () => begun.rollback(),
    destroy: () => abandon(begun),
  };
}

/** Lets the library find out that the connection is gone, and take it out of its pool. */
export function letGo(begun: CallbackTransaction<unknown>): void {
  begun.rollback().catch(() => {});
}

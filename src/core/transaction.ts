import type { SavedResponse } from './saved-response.ts';
import type { Attempt } from './store.ts';

/**
 * Opens transactions of one database library, on the database that the records are in. A few lines
 * for each library; `T` is the library's own type of an open transaction.
 */
export interface TransactionAdapter<T> {
  /** Which stores can complete a record in its transactions: those with the same word. */
  readonly dialect: TransactionDialect;
  /**
   * Begins a transaction with `limits`, on a connection that nobody else uses, in one round trip
   * where the library allows it. A rejection means that nothing was begun; whatever it took is
   * given back.
   */
  begin(limits: TransactionLimits): Promise<OpenTransaction<T>>;
}

/** Whose SQL a transaction speaks. */
export type TransactionDialect = 'postgres' | 'mysql';

/** One open transaction. It ends by `commit` or by `rollback`, of which one is called, once. */
export interface OpenTransaction<T = unknown> {
  /** What the handler is given. Once the transaction has ended, whatever is asked of it throws. */
  readonly tx: T;
  /**
   * Runs one more statement in it, behind all that the handler has sent; `values` are for `$1` or
   * `?`, as the dialect writes them. Answers the rows, or how many were changed, as the store of
   * the dialect reads it.
   */
  query(text: string, values: unknown[]): Promise<unknown>;
  /**
   * Resolves when the database has acknowledged the commit. A rejection means "cannot tell", unless
   * `isUndone` says that the database has rolled it back.
   */
  commit(): Promise<void>;
  /**
   * Resolves when nothing of it can take effect any more: the database has acknowledged the
   * rollback, or the connection is destroyed with no COMMIT sent. It waits for statements that are
   * still under way, or destroys their connection, and only then gives it back. Never rejects.
   */
  rollback(): Promise<void>;
}

/** What ends a transaction that is stuck. All of them are shorter than the lease. */
export interface TransactionLimits {
  /** Each statement. */
  readonly statementTimeoutMs: number;
  /** Each wait for a lock. */
  readonly lockTimeoutMs: number;
  /** Each pause between two statements: a process that is stopped holds its locks no longer. */
  readonly idleTimeoutMs: number;
}

/** What a commit rejects with when the database has said that the transaction is rolled back. */
export const ROLLED_BACK: unique symbol = Symbol.for('express-idempotent.rolled-back');

/** Whether `error` proves that nothing of the transaction was kept. */
export function isUndone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && ROLLED_BACK in error;
}

/** Capability: complete a record as the last statement of a transaction of the user's. */
export interface CompleteInCapability {
  readonly dialect: TransactionDialect;
  /**
   * The same as `complete`, in `transaction`: what was written in it and the saved response are
   * committed together, or neither is. It rejects when it is sent a second time.
   *
   * @throws {FencedError} this attempt does not own the record, or has completed it: roll back.
   */
  completeIn(
    transaction: Pick<OpenTransaction, 'query'>,
    key: string,
    response: SavedResponse,
    context: Attempt,
  ): Promise<void>;
}

/** Capability: run a function in one synchronous transaction that completes the record, too. */
export interface CommitSyncCapability<T> {
  /**
   * Begins a transaction, hands its handle to `write`, completes the record with what that answers,
   * and commits; all without giving the thread away. Whatever throws rolls all of it back.
   *
   * @throws {FencedError} this attempt does not own the record any more; nothing was written.
   * @throws {IdempotencyError} `commit_unclear` when COMMIT failed; `store_busy` when nothing was
   *   begun.
   * @throws whatever `write` throws.
   */
  commitSync(key: string, context: Attempt, write: (tx: T) => SavedResponse): SavedResponse;
}

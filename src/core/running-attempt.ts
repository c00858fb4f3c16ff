import type { Done, ResponseWords } from './recovery-outcome.ts';
import type { Attempt } from './store.ts';

/** The attempt as its handler has it: what it may do about its own outcome. */
export interface RunningAttempt extends Attempt {
  /**
   * The transaction that this attempt writes in, of your library's own type, under
   * `recovery: transactional(adapter)`. Name the type once for all routes:
   *
   *     declare global {
   *       namespace ExpressIdempotent {
   *         interface Registered { tx: PoolClient }
   *       }
   *     }
   *
   * or ask the mode: `const tx = mode.tx(req)` has the type of its adapter.
   *
   * @throws {IdempotencyError} `transaction_over` in another mode, and once it has ended.
   */
  readonly tx: RegisteredTransaction;
  /**
   * Under `recovery: transactional()` on a SqliteStore: runs `write` with the store's handle in one
   * transaction, saves the response that it answers in the same one, commits, and sends it. What
   * throws rolls all of it back and passes on. `write` may not answer a promise.
   *
   * @throws {IdempotencyError} `commit_not_synchronous`; `commit_unclear`; `transaction_over` in
   *   another mode; `already_answered`.
   */
  commitSync(write: (tx: RegisteredTransaction) => ResponseWords): void;
  /**
   * Saves `outcome` as the answer of this attempt, and sends it if the client still waits: for a
   * handler whose answer comes after an outer layer has told the client to wait no longer. The
   * retry is given it.
   *
   * @throws {IdempotencyError} `already_answered`; `transaction_over` before the handler runs, as
   *   in `admit`; in a transaction, whatever undid it.
   */
  settle(outcome: Done): Promise<Settled>;
  /**
   * A key for the provider that `name` stands for: the same in every attempt under this record, and
   * another for any other name, record or fingerprint. 43 characters of `[A-Za-z0-9_-]`, or a UUID
   * (version 8, RFC 9562) where a provider takes nothing else.
   */
  downstreamKey(name: string, form?: 'text' | 'uuid'): string;
}

/**
 * `saved`: every retry is given it. `superseded`: another attempt owns the record, and nothing was
 * changed. `unsaved`: the store did not take it within `saveTimeoutMs`; saving goes on.
 */
export type Settled = 'saved' | 'superseded' | 'unsaved';

/** What `ExpressIdempotent.Registered` says that a transaction is. */
export type RegisteredTransaction = ExpressIdempotent.Registered extends { tx: infer T }
  ? T
  : unknown;

declare global {
  namespace ExpressIdempotent {
    /** Merge `tx: …` into it to give `req.idempotency.tx` the type of your library. */
    interface Registered {}
  }
}

/** What a running attempt can do, made by what runs it. */
export interface HandlerPowers {
  tx(): unknown;
  commitSync(write: (tx: never) => ResponseWords): void;
  settle(outcome: Done): Promise<Settled>;
}

import type { SavedResponse } from './saved-response.ts';
import type { SettlementNote } from './settlement-audit.ts';
import type { Attempt, StoreCall } from './store.ts';

export type { SettlementNote } from './settlement-audit.ts';

/** Capability: keep a lease alive while its owner lives. */
export interface RenewCapability {
  /**
   * Moves the end of the lease to `leaseMs` from now, by the store's clock, in one statement.
   * Acts only for the owner of a pending record. It compares the owner and nothing else, so that a
   * renewal whose reply was lost never makes a living owner look superseded.
   *
   * @throws {FencedError} the record is absent, completed or another owner's.
   */
  renew(key: string, leaseMs: number, context: Attempt, call: StoreCall): Promise<void>;
}

/** Capability: give a record whose owner went quiet to another attempt. */
export interface TakeOverCapability {
  /**
   * Makes `context.owner` the owner of a pending record with this fingerprint whose lease is over,
   * counts its attempt up by one and begins a lease of `context.leaseMs`: one atomic decision, all
   * by the store's clock. Of any number of simultaneous calls one takes. A re-sent call of the
   * owner that took is answered `taken` again, with the same number.
   *
   * The record itself is not freed and nothing is run: whether the handler may run again is for the
   * recovery mode to say, and in no mode does the end of a lease alone allow it.
   */
  takeOver(
    key: string,
    fingerprint: string,
    context: Attempt,
    options: TakeOverOptions,
    call: StoreCall,
  ): Promise<TakeOver>;
}

/** What {@link TakeOverCapability.takeOver} is told besides who asks. */
export interface TakeOverOptions {
  /** Takes only within this time of the first claim, which a takeover does not move. */
  readonly withinMs?: number;
}

/** The answers of {@link TakeOverCapability.takeOver}. */
export type TakeOver =
  | { readonly kind: 'taken'; readonly attempt: number }
  /** The lease is over, and `withinMs` of the first claim too. Nothing was changed. */
  | { readonly kind: 'too-late' }
  /** The record is not there, not pending, another fingerprint's, or its owner's lease holds. */
  | { readonly kind: 'not-taken' };

/** How an operator ends a pending record. */
export type Settlement =
  /** The action was done, and this is its answer. */
  | { readonly kind: 'done'; readonly response: SavedResponse }
  /** The action was not done, and the attempt that might do it can never run again. */
  | { readonly kind: 'never-started' }
  /** Nobody can tell; `response` says so to every retry. */
  | { readonly kind: 'unknown'; readonly response: SavedResponse };

/** Capability: let an operator end a pending record, with evidence. */
export interface SettleCapability {
  /**
   * Ends a pending record whose lease is over, or holds none, in one statement. `done` and
   * `unknown` complete it, and fence its owner out; `never-started` deletes it at attempt 1, and
   * only ends its lease at a higher one. `force` does so while the owner's lease holds.
   */
  settle(
    key: string,
    settlement: Settlement,
    note: SettlementNote,
    options?: { readonly force?: boolean },
    call?: StoreCall,
  ): Promise<SettleAnswer>;
}

/** The answers of {@link SettleCapability.settle}. Only `settled` has changed anything. */
export type SettleAnswer = 'settled' | 'absent' | 'not-pending' | 'lease-holds';

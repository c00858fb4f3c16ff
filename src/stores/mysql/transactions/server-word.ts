import type { TransactionGate } from '../../transactions/gate.ts';
import { asUndone } from '../../transactions/transaction-error.ts';
import { numberOf } from '../mysql-error.ts';

/**
 * What the failure of a statement says about its transaction. After a deadlock MySQL has rolled all
 * of it back, and whatever is sent next would be committed by itself; so it may have after a wait
 * for a lock. A statement that was too long dooms it, too, as a limit that was reached.
 */
export function watchFailure(gate: TransactionGate, error: unknown): void {
  const number = numberOf(error);
  if (number === undefined) {
    if ((error as { readonly fatal?: unknown }).fatal === true) gate.lose(error as Error);
  } else if (ENDS_SESSION.has(number)) gate.lose(error as Error);
  else if (DOOMS.has(number)) gate.doom(error as Error);
}

/** What COMMIT was answered with, marked when it is the server's word for a rollback. */
export function afterCommit(answer: unknown, inLibrary: unknown = answer): unknown {
  return numberOf(answer) === DEADLOCK ? asUndone(inLibrary) : inLibrary;
}

const DEADLOCK = 1213;
/** Also a row that has changed since it was read, and limits on the time of a statement. */
const DOOMS: ReadonlySet<number> = new Set([DEADLOCK, 1205, 1020, 1969, 3024]);
/** Killed, shut down, or idle for too long. */
const ENDS_SESSION: ReadonlySet<number> = new Set([1053, 1927, 4031]);

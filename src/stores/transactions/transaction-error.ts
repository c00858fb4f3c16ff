import { IdempotencyError } from '../../core/errors.ts';
import { ROLLED_BACK } from '../../core/transaction.ts';

/** For whatever is asked of a transaction after its end. */
export function over(): IdempotencyError {
  return new IdempotencyError(
    'transaction_over',
    'Expected a statement before the answer, got one after the transaction had ended. It was not ' +
      'sent. Await every statement before you answer.',
  );
}

/** For a COMMIT or ROLLBACK of the handler's. */
export function endRefused(): IdempotencyError {
  return new IdempotencyError(
    'transaction_end_refused',
    'Expected statements within the transaction, got one that ends it. Answer below 500 to ' +
      'commit, throw to undo; to undo a part, use a savepoint.',
  );
}

/** The database keeps nothing of the transaction, as it or the state of the connection shows. */
export function aborted(cause?: unknown): Error {
  return asUndone(
    new IdempotencyError(
      'transaction_aborted',
      'Expected to commit, and the database had given the transaction up: a statement failed and ' +
        'its error was not passed on, or a limit was reached. Nothing of it was kept. Let errors ' +
        'of statements pass, or use savepoints.',
      { cause },
    ),
  );
}

/** Marks an error as the proof that nothing of the transaction was kept. */
export function asUndone(error: unknown): Error {
  const isObject = typeof error === 'object' && error !== null && Object.isExtensible(error);
  const marked = isObject ? error : new Error('The transaction is rolled back.', { cause: error });
  Object.defineProperty(marked, ROLLED_BACK, { value: true, configurable: true });
  return marked as Error;
}

/** Not one statement was sent. */
export function noConnection(waitedMs: number): IdempotencyError {
  return new IdempotencyError(
    'store_no_connection',
    `No connection for a transaction was to be had within ${waitedMs} ms; nothing was sent. ` +
      'Keep the pool larger than the requests that run at a time.',
  );
}

export function noAnswer(waitedMs: number): IdempotencyError {
  return new IdempotencyError(
    'store_timeout',
    `The database did not answer in a transaction for ${waitedMs} ms.`,
  );
}

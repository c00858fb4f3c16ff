import { FencedError, IdempotencyError } from '../../core/errors.ts';
import type { SavedResponse } from '../../core/saved-response.ts';
import type { Retention } from '../retention.ts';
import { completionTimes, encodeResponse } from './complete.ts';
import type { SqliteHandle } from './handle.ts';
import type { SqliteRecords } from './records.ts';
import type { SqliteSession } from './session.ts';
import { toIdempotencyError } from './sqlite-error.ts';

/** Runs writes of the user's and the completion of a record as one transaction, without a pause. */
export class CommitSync {
  readonly #session: SqliteSession;
  readonly #records: SqliteRecords;
  readonly #retention: Retention;

  constructor(session: SqliteSession, records: SqliteRecords, retention: Retention) {
    this.#session = session;
    this.#records = records;
    this.#retention = retention;
  }

  /** @throws {FencedError} and what `write` throws, after ROLLBACK; `commit_unclear`. */
  run(
    id: Buffer,
    owner: string,
    handle: SqliteHandle,
    write: (tx: SqliteHandle) => SavedResponse,
  ): SavedResponse {
    this.#begin();
    const response = this.#orRollback(() => {
      // First of all: a superseded attempt writes nothing.
      if (!this.#records.complete.isOwned(id, owner)) throw new FencedError();
      const answer = write(handle);
      if (!this.#session.connection.isInTransaction) throw endedByUser();
      const encoded = encodeResponse(answer);
      this.#records.complete.writeOnce(id, owner, encoded, completionTimes(this.#retention));
      return answer;
    });
    try {
      this.#session.connection.run('COMMIT');
    } catch (cause) {
      this.#session.connection.rollBack();
      const { database } = this.#session;
      const { message } = toIdempotencyError(cause, database);
      throw new IdempotencyError('commit_unclear', message, { cause });
    }
    return response;
  }

  #begin(): void {
    const { database } = this.#session;
    try {
      this.#session.begin();
    } catch (error) {
      throw toIdempotencyError(error, database);
    }
  }

  #orRollback<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      this.#session.connection.rollBack();
      throw error;
    }
  }
}

function endedByUser(): IdempotencyError {
  return new IdempotencyError(
    'commit_unclear',
    'Expected commitSync to end its transaction, found it ended inside. ' +
      'Leave COMMIT and ROLLBACK out of the function; throw to undo.',
  );
}

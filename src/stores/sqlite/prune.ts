import type { SqliteConnection } from './handle.ts';
import { COMPLETED, PENDING, TOMBSTONE } from './record-row.ts';

/** Tombstones that have ended. Walks its own partial index, as does the next. */
const forget = (table: string) =>
  `DELETE FROM ${table}
    WHERE id IN (SELECT id FROM ${table} WHERE state = ${TOMBSTONE} AND forget_at <= ? LIMIT ?)
      AND state <> ${PENDING}`;

/** The response goes; key, fingerprint, owner and attempt stay. */
const entomb = (table: string) =>
  `UPDATE ${table} SET state = ${TOMBSTONE}, head = NULL, body = NULL
    WHERE id IN (SELECT id FROM ${table} WHERE state = ${COMPLETED} AND expires_at <= ? LIMIT ?)
      AND state = ${COMPLETED}`;

export class PruneVerb {
  readonly #connection: SqliteConnection;
  readonly #forget: string;
  readonly #entomb: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#forget = forget(table);
    this.#entomb = entomb(table);
  }

  /** Within a transaction that holds the write lock. Answers how many records it changed. */
  write(nowMs: number, limit: number): number {
    const forgotten = this.#connection.run(this.#forget, nowMs, limit);
    return forgotten + this.#connection.run(this.#entomb, nowMs, limit - forgotten);
  }
}

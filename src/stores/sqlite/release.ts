import type { SqliteConnection } from './handle.ts';
import { PENDING } from './record-row.ts';

/** Acts only for the owner of a pending record; on anything else it changes no row. */
const release = (table: string) =>
  `DELETE FROM ${table} WHERE id = ? AND owner = ? AND state = ${PENDING} AND attempt = 1`;

/** The number of a record that was taken over stays: freed, it would begin again at 1. */
const endLease = (table: string) =>
  `UPDATE ${table} SET lease_until = ?
    WHERE id = ? AND owner = ? AND state = ${PENDING} AND attempt > 1`;

export class ReleaseVerb {
  readonly #connection: SqliteConnection;
  readonly #release: string;
  readonly #endLease: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#release = release(table);
    this.#endLease = endLease(table);
  }

  /** Within a transaction that holds the write lock. */
  write(id: Buffer, owner: string, nowMs: number): void {
    if (this.#connection.run(this.#release, id, owner) === 1) return;
    this.#connection.run(this.#endLease, nowMs, id, owner);
  }
}

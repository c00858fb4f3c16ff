import type { SqliteConnection } from './handle.ts';
import { PENDING } from './record-row.ts';

/** Acts only for the owner of a pending record; on anything else it changes no row. */
const release = (table: string) =>
  `DELETE FROM ${table} WHERE id = ? AND owner = ? AND state = ${PENDING}`;

export class ReleaseVerb {
  readonly #connection: SqliteConnection;
  readonly #release: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#release = release(table);
  }

  /** Within a transaction that holds the write lock. */
  write(id: Buffer, owner: string): void {
    this.#connection.run(this.#release, id, owner);
  }
}

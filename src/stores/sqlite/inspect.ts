import type { RecordView } from '../../core/store.ts';
import type { SqliteConnection } from './handle.ts';
import { isForgotten, responseOf, SUMMARY_COLUMNS, summaryOf } from './record-row.ts';

const inspect = (table: string) =>
  `SELECT ${SUMMARY_COLUMNS}, forget_at, head, body FROM ${table} WHERE id = ?`;

export class InspectVerb {
  readonly #connection: SqliteConnection;
  readonly #inspect: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#inspect = inspect(table);
  }

  look(id: Buffer, nowMs: number): RecordView | undefined {
    const row = this.#connection.get(this.#inspect, id);
    if (row === undefined || isForgotten(row, nowMs)) return undefined;
    const summary = summaryOf(row, nowMs);
    return { ...summary, response: summary.state === 'completed' ? responseOf(row) : undefined };
  }
}

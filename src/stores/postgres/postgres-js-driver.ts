import type { PostgresJsSql } from './client.ts';
import type { PostgresDriver, Row, Statement } from './driver.ts';
import { GivenUp } from './postgres-error.ts';

/**
 * Statements on postgres.js. Its connections cannot be taken out of its hands: one whose statement
 * is given up is asked to cancel it, and is used again when the server has answered that.
 */
export class PostgresJsDriver implements PostgresDriver {
  readonly #sql: PostgresJsSql;
  readonly #prepare: boolean;

  constructor(sql: PostgresJsSql, prepare: boolean) {
    this.#sql = sql;
    this.#prepare = prepare;
  }

  run(statement: Statement, values: unknown[], timeoutMs: number): Promise<Row[]> {
    const { text, columns } = statement;
    return new Promise((resolve, reject) => {
      const query = this.#sql.unsafe(text, values as never[], { prepare: this.#prepare });
      const timer = setTimeout(() => {
        reject(new GivenUp(`PostgreSQL did not answer for ${timeoutMs} ms.`));
        cancel(query);
      }, timeoutMs);
      query.raw().then(
        (rows) => {
          clearTimeout(timer);
          resolve((rows as Cell[][]).map((row) => rowOf(row, columns)));
        },
        (error: Error) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }
}

type Cell = Uint8Array | null;

/** Raw cells are the bytes of the text, which neither types nor transforms of the user change. */
function rowOf(cells: readonly Cell[], columns: readonly string[]): Row {
  const row: { [column: string]: string | null } = {};
  for (const [index, column] of columns.entries()) {
    const cell = cells[index];
    row[column] = cell ? textOf(cell) : null;
  }
  return row;
}

function textOf(cell: Uint8Array): string {
  return Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString();
}

/**
 * Not by `query.cancel()`: that lets go of the promise of the cancellation, and where the server
 * is out of reach its rejection would be nobody's, and end the process.
 */
function cancel(query: object): void {
  const { canceller } = query as { readonly canceller?: unknown };
  if (typeof canceller === 'function') Promise.resolve(canceller(query)).catch(() => {});
}

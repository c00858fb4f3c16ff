import type { PostgresQueryable } from './client.ts';
import type { PostgresDriver, Row, Statement } from './driver.ts';
import { GivenUp } from './postgres-error.ts';

/** Statements on anything with `query(text, values)`. */
export class QueryDriver implements PostgresDriver {
  readonly #client: PostgresQueryable;

  constructor(client: PostgresQueryable) {
    this.#client = client;
  }

  async run(statement: Statement, values: unknown[], timeoutMs: number): Promise<Row[]> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new GivenUp(`PostgreSQL did not answer for ${timeoutMs} ms.`));
      }, timeoutMs);
    });
    try {
      return rowsOf(await Promise.race([this.#client.query(statement.text, values), late]));
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The rows of an answer, in either of the two forms that clients give them. */
export function rowsOf(answer: unknown): Row[] {
  if (Array.isArray(answer)) return answer as Row[];
  const { rows } = (answer ?? {}) as { readonly rows?: unknown };
  if (Array.isArray(rows)) return rows as Row[];
  throw new TypeError('Expected query(text, values) to answer rows, or an object with rows.');
}

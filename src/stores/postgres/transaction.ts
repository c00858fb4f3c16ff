import { type Row, type Statement, valuesOf } from './driver.ts';
import { rowsOf } from './query-driver.ts';

/**
 * A transaction of the user's that is open: a client of `pg` between BEGIN and COMMIT, the `sql`
 * that postgres.js hands to `begin`, or anything that runs a statement with `$1` parameters in it.
 */
export type PostgresTransaction =
  | { query(text: string, values: unknown[]): PromiseLike<unknown> }
  | { unsafe(text: string, values: never[]): PromiseLike<unknown> };

/** The rows that come of one more statement in it. */
export async function runIn(
  transaction: PostgresTransaction,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  const all = valuesOf(statement, values);
  const answer =
    'unsafe' in transaction
      ? transaction.unsafe(statement.text, all as never[])
      : transaction.query(statement.text, all);
  return rowsOf(await answer);
}

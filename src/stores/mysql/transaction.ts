import type { Query } from './statement.ts';

/**
 * A transaction of the user's that is open: a connection of `mysql2` between BEGIN and COMMIT, or
 * anything that runs a statement with `?` parameters in it.
 */
export interface MySqlTransaction {
  query(text: string, values: unknown[]): PromiseLike<unknown>;
}

/** How many rows were changed by one more statement in it. */
export async function runIn(transaction: MySqlTransaction, query: Query): Promise<number> {
  return changedBy(await transaction.query(query.text, [...query.values]));
}

/** In whichever form a client says it: a header, a header in an array, or a result of a builder. */
function changedBy(answer: unknown): number {
  const [first] = Array.isArray(answer) ? answer : [answer];
  const { affectedRows, numAffectedRows } = (first ?? {}) as {
    readonly affectedRows?: number;
    readonly numAffectedRows?: bigint;
  };
  const changed = affectedRows ?? numAffectedRows;
  if (changed !== undefined) return Number(changed);
  throw new TypeError('Expected query(text, values) to answer how many rows were changed.');
}

import { hash } from 'node:crypto';
import type { OptionRule } from '../../core/option-check.ts';
import type { Statement } from './driver.ts';

export const DEFAULT_SCHEMA = 'public';
export const DEFAULT_TABLE = 'idempotency_records';

/** PostgreSQL cuts off a name after 63 bytes, without a word; our longest ending has 11. */
const MAX_TABLE_NAME = 52;

/** Names are quoted in every statement, and still nothing is taken that would need it. */
export const TABLE_NAME: OptionRule = {
  expected: 'a name of 1 to 52 letters, digits and underscores that does not begin with a digit',
  holds: (value) => isName(value, MAX_TABLE_NAME),
};

export const SCHEMA_NAME: OptionRule = {
  expected: 'a name of 1 to 63 letters, digits and underscores that does not begin with a digit',
  holds: (value) => isName(value, 63),
};

/** Where the records are, and by which clock they are judged. */
export class Table {
  /** Quoted: what stands in statements. */
  readonly name: string;
  readonly migrations: string;
  readonly schema: string;
  readonly index: string;
  /** What errors call it. */
  readonly title: string;
  readonly #now: (() => number) | undefined;

  /** `now` takes the place of the server's clock, for tests. */
  constructor(schema: string, table: string, now?: () => number) {
    this.schema = `"${schema}"`;
    this.name = `"${schema}"."${table}"`;
    this.migrations = `"${schema}"."${table}_migrations"`;
    this.index = `"${table}_by_age"`;
    this.title = `${schema}.${table}`;
    this.#now = now;
  }

  /**
   * A statement on this table. `write` is given the expression of the present, which in tests is
   * one more parameter behind `parameterCount` others.
   */
  statement(
    verb: string,
    columns: readonly string[],
    parameterCount: number,
    write: (now: string) => string,
  ): Statement {
    const parameter = `to_timestamp($${parameterCount + 1}::float8 / 1000)`;
    // Not now(): in a transaction of the user's that is its beginning.
    const text = write(this.#now === undefined ? 'statement_timestamp()' : parameter);
    const name = `idempotent_${verb}_${hash('sha256', text).slice(0, 16)}`;
    return { name, text, columns, now: text.includes(parameter) ? this.#now : undefined };
  }
}

/** Milliseconds since 1970 of a timestamp column, as text. */
export function milliseconds(column: string): string {
  return `round(extract(epoch from ${column}) * 1000)::bigint::text`;
}

function isName(value: unknown, maxLength: number): boolean {
  return (
    typeof value === 'string' && value.length <= maxLength && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)
  );
}

import type { OptionRule } from '../../core/option-check.ts';

export const DEFAULT_TABLE = 'idempotency_records';

/** A name that SQLite takes once it is quoted; names that begin with `sqlite_` are SQLite's own. */
export const TABLE_NAME: OptionRule = {
  expected: 'a table name: 1 to 100 characters, no NUL, not beginning with "sqlite_"',
  holds: (value) =>
    typeof value === 'string' &&
    value.length >= 1 &&
    value.length <= 100 &&
    !value.includes('\0') &&
    !/\p{Surrogate}/u.test(value) &&
    !value.toLowerCase().startsWith('sqlite_'),
};

/** `name` as an SQL identifier, whatever it holds. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

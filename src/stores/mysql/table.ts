import type { OptionRule } from '../../core/option-check.ts';
import type { Statement } from './statement.ts';

export const DEFAULT_TABLE = 'idempotency_records';

/** MySQL takes no name of more than 64 characters; our longest ending has 11. */
const MAX_TABLE_NAME = 52;

/** Names are quoted in every statement, and still nothing is taken that would need it. */
export const TABLE_NAME: OptionRule = {
  expected: 'a name of 1 to 52 letters, digits and underscores that does not begin with a digit',
  holds: (value) =>
    typeof value === 'string' &&
    value.length <= MAX_TABLE_NAME &&
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(value),
};

/** Where the records are, and by which clock they are judged. */
export class Table {
  /** Quoted: what stands in statements. */
  readonly name: string;
  readonly migrations: string;
  readonly index: string;
  /** What errors call it. */
  readonly title: string;
  readonly #now: (() => number) | undefined;

  /** `now` takes the place of the server's clock, for tests. */
  constructor(table: string, now?: () => number) {
    this.name = `\`${table}\``;
    this.migrations = `\`${table}_migrations\``;
    this.index = `\`${table}_by_age\``;
    this.title = table;
    this.#now = now;
  }

  /**
   * A statement on this table. `write` is given the expression of the present, which does not
   * depend on the time zone of a connection, and writes `:name` where a value stands.
   */
  statement(write: (now: string) => string): Statement {
    const names: string[] = [];
    const sql = write(this.#now === undefined ? 'utc_timestamp(3)' : later(EPOCH, ':now'));
    const text = sql.replace(/:([a-z]\w*)/gi, (_, name: string) => {
      names.push(name);
      return '?';
    });
    return { text: text.trim(), names, now: names.includes('now') ? this.#now : undefined };
  }
}

/** The moment that is so many milliseconds behind another. */
export function later(moment: string, milliseconds: string): string {
  return `timestampadd(microsecond, ${milliseconds} * 1000, ${moment})`;
}

/** The moment that is so many milliseconds before another. */
export function earlier(moment: string, milliseconds: string): string {
  return `timestampadd(microsecond, ${milliseconds} * -1000, ${moment})`;
}

/** The moment that is so many milliseconds behind the year 1970. */
export function momentOf(milliseconds: string): string {
  return later(EPOCH, milliseconds);
}

/** Milliseconds since 1970 of a column. */
export function milliseconds(column: string): string {
  return `timestampdiff(microsecond, ${EPOCH}, ${column}) div 1000`;
}

const EPOCH = "cast('1970-01-01 00:00:00' as datetime(3))";

import { A_FUNCTION, checkOptions, type OptionRule } from '../option-check.ts';
import { RETENTION_RULES, type RetentionOptions } from '../retention.ts';
import type { ResponseSeal } from '../seal.ts';
import type { PostgresClient } from './client.ts';
import { SCHEMA_NAME, TABLE_NAME } from './table.ts';

/** The options of {@link PostgresStore}. */
export interface PostgresStoreOptions extends RetentionOptions {
  /**
   * A Pool of `pg`, the `sql` of postgres.js, or an object with `query(text, values)`. It is lent:
   * the store never ends it.
   */
  readonly client: PostgresClient;
  /**
   * The schema of the table: 1 to 63 letters, digits and underscores, and its case counts.
   *
   * @default 'public'
   */
  readonly schema?: string;
  /**
   * The table that holds the records: 1 to 52 letters, digits and underscores, and its case counts.
   *
   * @default 'idempotency_records'
   */
  readonly table?: string;
  /**
   * Whether connections keep the statements prepared. Without that PostgreSQL plans each anew; a
   * pooler in transaction mode that does not keep them (pgbouncer before 1.21) needs it so.
   *
   * @default true
   */
  readonly prepare?: boolean;
  /**
   * Lets `check` pass although the server's settings may lose acknowledged records, and actions may
   * then run twice.
   *
   * @default false
   */
  readonly acceptDataLoss?: boolean;
  /** Encrypts saved responses; see `aesGcmSeal`. Keys and fingerprints stay readable. */
  readonly seal?: ResponseSeal;
  /**
   * Whether a store with a seal also replays responses that are not sealed: on the way to one, for
   * as long as old results are kept. Whoever can write the table can then forge a response.
   *
   * @default false
   */
  readonly acceptUnsealed?: boolean;
  /**
   * Takes the place of the server's clock, in milliseconds since 1970: for tests. Without it all
   * times are the server's.
   */
  readonly now?: () => number;
}

/** @throws {IdempotencyError} `option_invalid`. */
export function checkPostgresOptions(options: PostgresStoreOptions): void {
  checkOptions<PostgresStoreOptions>('PostgresStore', options, {
    ...RETENTION_RULES,
    client: { expected: 'a client of PostgreSQL', holds: (value) => value !== null },
    schema: SCHEMA_NAME,
    table: TABLE_NAME,
    prepare: A_BOOLEAN,
    acceptDataLoss: A_BOOLEAN,
    seal: A_SEAL,
    acceptUnsealed: A_BOOLEAN,
    now: A_FUNCTION,
  });
}

const A_BOOLEAN: OptionRule = {
  expected: 'true or false',
  holds: (value) => typeof value === 'boolean',
};

const A_SEAL: OptionRule = {
  expected: 'an object with the functions seal and open, such as aesGcmSeal makes',
  holds: (value) => {
    const { seal, open } = (value ?? {}) as { readonly seal?: unknown; readonly open?: unknown };
    return typeof seal === 'function' && typeof open === 'function';
  },
};

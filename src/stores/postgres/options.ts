import { A_BOOLEAN, A_FUNCTION, checkOptions, type OptionOwner } from '../../core/option-check.ts';
import { RETENTION_RULES, type RetentionOptions } from '../retention.ts';
import { A_SEAL, type ResponseSeal } from '../seal.ts';
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

/** Whose options they are. */
export const POSTGRES_STORE = { name: 'PostgresStore', page: 'docs/stores/postgres.md' };

/** Whose arguments they are: a function that makes a transaction adapter. */
export function postgresAdapter(name: string): OptionOwner {
  return { ...POSTGRES_STORE, name: `${name}(…)` };
}

/** What a client is, is found out where it is put to use. */
const A_CLIENT = { expected: 'a client', holds: () => true };

/** @throws {IdempotencyError} `option_invalid`. */
export function checkPostgresOptions(options: PostgresStoreOptions): void {
  checkOptions<PostgresStoreOptions>(POSTGRES_STORE, options, {
    ...RETENTION_RULES,
    client: A_CLIENT,
    schema: SCHEMA_NAME,
    table: TABLE_NAME,
    prepare: A_BOOLEAN,
    acceptDataLoss: A_BOOLEAN,
    seal: A_SEAL,
    acceptUnsealed: A_BOOLEAN,
    now: A_FUNCTION,
  });
}

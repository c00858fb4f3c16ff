import type { IdempotencyError } from '../../core/errors.ts';
import {
  A_BOOLEAN,
  A_FUNCTION,
  checkOptions,
  invalidOption,
  kindOf,
  type OptionOwner,
} from '../../core/option-check.ts';
import { RETENTION_RULES, type RetentionOptions } from '../retention.ts';
import { A_SEAL, type ResponseSeal } from '../seal.ts';
import type { MySqlPool } from './client.ts';
import { TABLE_NAME } from './table.ts';

/** The options of {@link MySqlStore}. */
export interface MySqlStoreOptions extends RetentionOptions {
  /**
   * A promise pool of `mysql2`, whose connections have a database. It is lent: the store never ends
   * it.
   */
  readonly client: MySqlPool;
  /**
   * The table that holds the records: 1 to 52 letters, digits and underscores. Whether its case
   * counts is a setting of the server.
   *
   * @default 'idempotency_records'
   */
  readonly table?: string;
  /**
   * Whether connections keep the statements prepared. Without that values are written into the text
   * of each; a proxy that does not keep prepared statements needs it so.
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
export function checkMySqlOptions(options: MySqlStoreOptions): void {
  checkOptions<MySqlStoreOptions>(MYSQL_STORE, options, {
    ...RETENTION_RULES,
    client: { expected: A_POOL, holds: () => true },
    table: TABLE_NAME,
    prepare: A_BOOLEAN,
    acceptDataLoss: A_BOOLEAN,
    seal: A_SEAL,
    acceptUnsealed: A_BOOLEAN,
    now: A_FUNCTION,
  });
  checkClient(options.client);
}

/** Whose arguments they are: a function that makes a transaction adapter. */
export function mysqlAdapter(name: string): OptionOwner {
  return { ...MYSQL_STORE, name: `${name}(…)` };
}

/** What the user gave as `client`, told apart by its methods. */
function checkClient(client: unknown): void {
  const { getConnection, promise, query, of } = (client ?? {}) as {
    readonly [name: string]: unknown;
  };
  if (typeof getConnection !== 'function') {
    throw invalid(
      typeof query === 'function'
        ? 'one connection, on which every request would wait for all others'
        : kindOf(client),
    );
  }
  if (typeof promise === 'function') {
    throw invalid('a pool with callbacks: give pool.promise() instead');
  }
  if (typeof of === 'function') {
    throw invalid('a cluster of pools, which may lead to replicas: give the pool of the primary');
  }
}

function invalid(got: string): IdempotencyError {
  return invalidOption(MYSQL_STORE, 'client', A_POOL, got);
}

const MYSQL_STORE = { name: 'MySqlStore', page: 'docs/stores/mysql.md' };
const A_POOL = 'a promise pool, as createPool of mysql2/promise makes it';

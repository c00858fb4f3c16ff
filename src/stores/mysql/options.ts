import { IdempotencyError } from '../../core/errors.ts';
import { A_FUNCTION, checkOptions, type OptionRule } from '../option-check.ts';
import { RETENTION_RULES, type RetentionOptions } from '../retention.ts';
import type { ResponseSeal } from '../seal.ts';
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
  checkOptions<MySqlStoreOptions>('MySqlStore', options, {
    ...RETENTION_RULES,
    client: { expected: A_POOL, holds: (value) => value !== null },
    table: TABLE_NAME,
    prepare: A_BOOLEAN,
    acceptDataLoss: A_BOOLEAN,
    seal: A_SEAL,
    acceptUnsealed: A_BOOLEAN,
    now: A_FUNCTION,
  });
  checkClient(options.client);
}

/** What the user gave as `client`, told apart by its methods. */
function checkClient(client: unknown): void {
  const { getConnection, promise, query, of } = (client ?? {}) as {
    readonly [name: string]: unknown;
  };
  if (typeof getConnection !== 'function') {
    throw invalid(
      typeof query === 'function'
        ? 'got one connection, on which every request would wait for all others.'
        : `got ${client === null ? 'null' : `a value of type ${typeof client}`}.`,
    );
  }
  if (typeof promise === 'function') {
    throw invalid('got a pool with callbacks: give pool.promise() instead.');
  }
  if (typeof of === 'function') {
    throw invalid(
      'got a cluster of pools, which may lead to replicas: give the pool of the primary.',
    );
  }
}

function invalid(what: string): IdempotencyError {
  return new IdempotencyError(
    'option_invalid',
    `MySqlStore: option "client" must be ${A_POOL}; ${what}`,
  );
}

const A_POOL = 'a promise pool, as createPool of mysql2/promise makes it';

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

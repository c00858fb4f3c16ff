import type { TransactionAdapter } from '../../../core/transaction.ts';
import type { LentConnection } from '../../transactions/lent-connection.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { postgresAdapter } from '../options.ts';
import { openOnPg, type PgConnection } from './pg-connection.ts';

/** A pool of `pg`, as far as transactions need it. It is lent, and never ended. */
export interface PgTransactionPool<Client> {
  connect(
    callback: (
      error: Error | undefined,
      client: Client | undefined,
      release: (error?: Error | boolean) => void,
    ) => void,
  ): void;
}

/**
 * Transactions on a Pool of `pg`. The handler's `tx` is one of its clients.
 *
 * @example
 * ```ts
 * const recovery = transactional(pgTransactions(new Pool()));
 * app.post('/labels', idempotent(store, { recovery }), createLabel);
 * ```
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function pgTransactions<Client extends PgConnection>(
  pool: PgTransactionPool<Client>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Client> {
  checkAdapter(postgresAdapter('pgTransactions'), pool, LIBRARY, options);
  return {
    dialect: 'postgres',
    begin: (limits) => openOnPg(limits, options, () => lend(pool), beginOnPg),
  };
}

const LIBRARY = { expected: 'a Pool of pg', methods: ['connect'] };

/** Lends a connection of a pool of `pg`. */
export function lend<Client>(pool: PgTransactionPool<Client>): Promise<LentConnection<Client>> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client, release) => {
      if (client === undefined || error) reject(error);
      else resolve({ client, giveBack: release });
    });
  });
}

async function beginOnPg<Client extends PgConnection>(client: Client) {
  await client.query('begin');
  return {
    tx: client,
    commit: () => client.query('commit'),
    rollback: () => client.query('rollback'),
  };
}

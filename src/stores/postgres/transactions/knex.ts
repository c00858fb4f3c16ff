import type { TransactionAdapter } from '../../../core/transaction.ts';
import { beginOnKnex, type KnexDatabase, lendFromKnex } from '../../transactions/knex.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { postgresAdapter } from '../options.ts';
import { openOnPg, type PgConnection } from './pg-connection.ts';

/**
 * Transactions of Knex with the client `pg`. The handler's `tx` is a `Knex.Transaction`; its
 * `commit` and `rollback` are the middleware's.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function knexTransactions<Transaction extends object>(
  knex: KnexDatabase<Transaction>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Transaction> {
  checkAdapter(postgresAdapter('knexTransactions'), knex, LIBRARY, options);
  return {
    dialect: 'postgres',
    begin: (limits) =>
      openOnPg(
        limits,
        options,
        () => lendFromKnex<PgConnection>(knex.client),
        (connection, gate) => beginOnKnex(knex, connection, gate),
      ),
  };
}

const LIBRARY = { expected: 'a Knex', methods: ['transaction'] };

import type { TransactionAdapter } from '../../../core/transaction.ts';
import type { DriverConnection } from '../../transactions/guarded-connection.ts';
import { beginOnKnex, type KnexDatabase, lendFromKnex } from '../../transactions/knex.ts';
import { checkAdapterOptions, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { openOnMySql } from './mysql-connection.ts';

/**
 * Transactions of Knex with the client `mysql2`. The handler's `tx` is a `Knex.Transaction`; its
 * `commit` and `rollback` are the middleware's.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function knexTransactions<Transaction extends object>(
  knex: KnexDatabase<Transaction>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Transaction> {
  checkAdapterOptions('knexTransactions', options);
  return {
    dialect: 'mysql',
    begin: (limits) =>
      openOnMySql(
        limits,
        options,
        () => lendFromKnex<DriverConnection>(knex.client),
        (connection, gate) => beginOnKnex(knex, connection, gate),
      ),
  };
}

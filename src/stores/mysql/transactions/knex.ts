import type { TransactionAdapter } from '../../../core/transaction.ts';
import type { DriverConnection } from '../../transactions/guarded-connection.ts';
import { beginOnKnex, type KnexDatabase, lendFromKnex } from '../../transactions/knex.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { mysqlAdapter } from '../options.ts';
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
  checkAdapter(mysqlAdapter('knexTransactions'), knex, LIBRARY, options);
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

const LIBRARY = { expected: 'a Knex', methods: ['transaction'] };

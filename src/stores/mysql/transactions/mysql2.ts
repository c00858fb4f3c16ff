import type { TransactionAdapter } from '../../../core/transaction.ts';
import type { DriverConnection } from '../../transactions/guarded-connection.ts';
import type { LentConnection } from '../../transactions/lent-connection.ts';
import { checkAdapter, type TransactionAdapterOptions } from '../../transactions/options.ts';
import { mysqlAdapter } from '../options.ts';
import { openOnMySql } from './mysql-connection.ts';

/** A promise pool of `mysql2`, as far as transactions need it. It is lent, and never ended. */
export interface MySqlTransactionPool<Connection> {
  getConnection(): Promise<Connection>;
}

/** A connection of such a pool, as far as it is used here. */
export interface MySqlTransactionConnection extends DriverConnection {
  query(text: string): Promise<unknown>;
  release(): void;
  destroy(): void;
}

/**
 * Transactions on a promise pool of `mysql2`. The handler's `tx` is one of its connections.
 *
 * @example
 * ```ts
 * const pool = mysql.createPool({ uri: 'mysql://localhost/shop' });
 * const recovery = transactional(mysql2Transactions(pool));
 * app.post('/labels', idempotent(store, { recovery }), createLabel);
 * ```
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function mysql2Transactions<Connection extends MySqlTransactionConnection>(
  pool: MySqlTransactionPool<Connection>,
  options: TransactionAdapterOptions = {},
): TransactionAdapter<Connection> {
  checkAdapter(mysqlAdapter('mysql2Transactions'), pool, LIBRARY, options);
  return {
    dialect: 'mysql',
    begin: (limits) => openOnMySql(limits, options, () => lend(pool), begin),
  };
}

const LIBRARY = {
  expected: 'a promise pool, as createPool of mysql2/promise makes it',
  methods: ['getConnection'],
};

async function lend<Connection extends MySqlTransactionConnection>(
  pool: MySqlTransactionPool<Connection>,
): Promise<LentConnection<Connection>> {
  const connection = await pool.getConnection();
  const giveBack = (inDoubt: Error | undefined) =>
    inDoubt === undefined ? connection.release() : connection.destroy();
  return { client: connection, giveBack };
}

async function begin<Connection extends MySqlTransactionConnection>(connection: Connection) {
  await connection.query('begin');
  return {
    tx: connection,
    commit: () => connection.query('commit'),
    rollback: () => connection.query('rollback'),
  };
}

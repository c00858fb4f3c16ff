export { type Pruning, type PruningOptions, startPruning } from '../pruning.ts';
export { type AesGcmSealOptions, aesGcmSeal, type ResponseSeal } from '../seal.ts';
export type { DriverConnection } from '../transactions/guarded-connection.ts';
export type { KnexDatabase } from '../transactions/knex.ts';
export type { KyselyDatabase, KyselyTransactionBuilder } from '../transactions/kysely.ts';
export type { IsolationLevel, TransactionAdapterOptions } from '../transactions/options.ts';
export type { MySqlConnection, MySqlPool, MySqlStatement } from './client.ts';
export type { MySqlDurability } from './durability.ts';
export { type MySqlMigration, type MySqlTableName, mysqlMigrations } from './migrations.ts';
export type { MySqlStoreOptions } from './options.ts';
export { MySqlStore } from './store.ts';
export type { MySqlTransaction } from './transaction.ts';
export { knexTransactions } from './transactions/knex.ts';
export { kyselyTransactions } from './transactions/kysely.ts';
export {
  type MySqlTransactionConnection,
  type MySqlTransactionPool,
  mysql2Transactions,
} from './transactions/mysql2.ts';

export { type Pruning, type PruningOptions, startPruning } from '../pruning.ts';
export { type AesGcmSealOptions, aesGcmSeal, type ResponseSeal } from '../seal.ts';
export type { MySqlConnection, MySqlPool, MySqlStatement } from './client.ts';
export type { MySqlDurability } from './durability.ts';
export { type MySqlMigration, type MySqlTableName, mysqlMigrations } from './migrations.ts';
export type { MySqlStoreOptions } from './options.ts';
export { MySqlStore } from './store.ts';
export type { MySqlTransaction } from './transaction.ts';

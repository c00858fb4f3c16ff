export { type Pruning, type PruningOptions, startPruning } from '../pruning.ts';
export { type AesGcmSealOptions, aesGcmSeal, type ResponseSeal } from '../seal.ts';
export type {
  PgPool,
  PgPoolClient,
  PostgresClient,
  PostgresJsSql,
  PostgresQueryable,
} from './client.ts';
export type { PostgresDurability } from './durability.ts';
export {
  type PostgresMigration,
  type PostgresTableName,
  postgresMigrations,
} from './migrations.ts';
export type { PostgresStoreOptions } from './options.ts';
export { PostgresStore } from './store.ts';
export type { PostgresTransaction } from './transaction.ts';

export { type Pruning, type PruningOptions, startPruning } from '../pruning.ts';
export { type AesGcmSealOptions, aesGcmSeal, type ResponseSeal } from '../seal.ts';
export type { DriverConnection } from '../transactions/guarded-connection.ts';
export type { KnexDatabase } from '../transactions/knex.ts';
export type { KyselyDatabase, KyselyTransactionBuilder } from '../transactions/kysely.ts';
export type { IsolationLevel, TransactionAdapterOptions } from '../transactions/options.ts';
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
export { type DrizzleDatabase, drizzleTransactions } from './transactions/drizzle.ts';
export { knexTransactions } from './transactions/knex.ts';
export {
  type KyselyClient,
  type KyselyPool,
  type KyselyTransactionOptions,
  kyselyTransactions,
} from './transactions/kysely.ts';
export { type PgTransactionPool, pgTransactions } from './transactions/pg.ts';
export type { PgConnection } from './transactions/pg-connection.ts';
export { type PostgresJsDatabase, postgresJsTransactions } from './transactions/postgres-js.ts';
export { type PrismaDatabase, prismaTransactions } from './transactions/prisma.ts';
export { type SequelizeDatabase, sequelizeTransactions } from './transactions/sequelize.ts';
export {
  type TypeormDataSource,
  type TypeormQueryRunner,
  typeormTransactions,
} from './transactions/typeorm.ts';

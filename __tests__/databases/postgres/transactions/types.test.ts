import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Knex } from 'knex';
import type { Kysely, Transaction as KyselyTransaction } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Sql, TransactionSql } from 'postgres';
import type { Sequelize, Transaction as SequelizeTransaction } from 'sequelize';
import type { DataSource, EntityManager } from 'typeorm';
import type { TransactionAdapter } from '../../../../src/core/transaction.ts';
import {
  drizzleTransactions,
  knexTransactions,
  kyselyTransactions,
  pgTransactions,
  postgresJsTransactions,
  sequelizeTransactions,
  typeormTransactions,
} from '../../../../src/stores/postgres/index.ts';

interface Database {
  labels: { name: string };
}

interface Libraries {
  readonly pool: Pool;
  readonly sql: Sql<{ point: [number, number] }>;
  readonly kysely: Kysely<Database>;
  readonly onPg: NodePgDatabase;
  readonly onPostgresJs: PostgresJsDatabase;
  readonly knex: Knex;
  readonly sequelize: Sequelize;
  readonly dataSource: DataSource;
}

/** Compiled, and never called. */
function adaptersOf(libraries: Libraries) {
  return {
    pg: pgTransactions(libraries.pool),
    postgresJs: postgresJsTransactions(libraries.sql),
    kysely: kyselyTransactions(libraries.kysely, { pool: libraries.pool }),
    drizzleOnPg: drizzleTransactions(libraries.onPg),
    drizzleOnPostgresJs: drizzleTransactions(libraries.onPostgresJs),
    knex: knexTransactions(libraries.knex),
    sequelize: sequelizeTransactions(libraries.sequelize),
    typeorm: typeormTransactions(libraries.dataSource),
  };
}

interface Expected {
  readonly pg: PoolClient;
  readonly postgresJs: TransactionSql<{ point: [number, number] }>;
  readonly kysely: KyselyTransaction<Database>;
  readonly drizzleOnPg: Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];
  readonly drizzleOnPostgresJs: Parameters<Parameters<PostgresJsDatabase['transaction']>[0]>[0];
  readonly knex: Knex.Transaction;
  readonly sequelize: SequelizeTransaction;
  readonly typeorm: EntityManager;
}

type Adapters = ReturnType<typeof adaptersOf>;
type TxOf<Name extends keyof Adapters> =
  Adapters[Name] extends TransactionAdapter<infer T> ? T : never;
type IsSame<A, B> =
  (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;

test('the type of tx is that of the library, with all that its user has told it', () => {
  // What is checked is that this compiles.
  const areSame: { [Name in keyof Adapters]: IsSame<TxOf<Name>, Expected[Name]> } = {
    pg: true,
    postgresJs: true,
    kysely: true,
    drizzleOnPg: true,
    drizzleOnPostgresJs: true,
    knex: true,
    sequelize: true,
    typeorm: true,
  };
  expect(Object.keys(areSame)).toHaveLength(8);
  expect(adaptersOf).toBeInstanceOf(Function);
});

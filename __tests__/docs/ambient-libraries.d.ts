import type { MySqlTransactionConnection } from '../../src/stores/mysql/index.ts';
import type {
  DrizzleDatabase,
  KnexDatabase,
  KyselyDatabase,
  PgConnection,
  PgTransactionPool,
  PostgresJsDatabase,
  PrismaDatabase,
  SequelizeDatabase,
  TypeormDataSource,
} from '../../src/stores/postgres/index.ts';

/** A row of the examples. */
interface Row {
  readonly id?: number;
  readonly parcel?: string;
}

/** What libraries give a handler to write with, as far as the examples use it. */
interface Inserting {
  insertInto(table: string): { values(row: Row): { execute(): Promise<unknown> } };
  insert(table: unknown): { values(row: Row): Promise<unknown> };
}

declare global {
  interface MySqlConnectionInExamples extends MySqlTransactionConnection {
    execute(text: string, values: unknown[]): Promise<unknown>;
  }
  const MysqlDialect: new (options: { readonly pool: unknown }) => object;
  const callbackPool: object;
  interface PgClientInExamples extends PgConnection {
    query(text: string, values?: unknown[]): Promise<{ readonly rows: Row[] }>;
  }
  const postgres: () => PostgresJsDatabase<
    (text: TemplateStringsArray, ...values: unknown[]) => Promise<Row[]>
  >;
  type Database = Row;
  const PostgresDialect: new (options: { readonly pool: unknown }) => object;
  const Kysely: new <D>(options: {
    readonly dialect: object;
  }) => KyselyDatabase<Inserting> & {
    readonly schema: D;
  };
  const drizzle: (pool: PgTransactionPool<PgConnection>) => DrizzleDatabase<Inserting>;
  const labels: object;
  const knex: (options: {
    readonly client: string;
  }) => KnexDatabase<(table: string) => { insert(row: Row): Promise<unknown> }>;
  const PrismaPg: new (options: { readonly max: number }) => object;
  const PrismaClient: new (options: {
    readonly adapter: object;
  }) => PrismaDatabase<{
    readonly label: { create(options: { readonly data: Row }): Promise<Row> };
  }>;
  const Sequelize: new (url: string) => SequelizeDatabase<object>;
  const Label: { create(row: Row, options: { readonly transaction: object }): Promise<unknown> };
  const DataSource: new (options: {
    readonly type: string;
  }) => TypeormDataSource<{
    insert(entity: string, row: Row): Promise<unknown>;
  }>;
}

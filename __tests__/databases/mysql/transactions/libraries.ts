import knexOf, { type Knex } from 'knex';
import { Kysely, MysqlDialect, sql, type Transaction } from 'kysely';
import { createPool as createCallbackPool } from 'mysql2';
import { createPool, type PoolConnection } from 'mysql2/promise';
import {
  knexTransactions,
  kyselyTransactions,
  mysql2Transactions,
  type TransactionAdapterOptions,
} from '../../../../src/stores/mysql/index.ts';

/** Where a library connects to, and with how many connections at most. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly max: number;
}

/** mysql2: what is sent goes out when it is called. */
export function connectMysql2({ max, ...address }: Address) {
  const pool = createPool({ ...address, connectionLimit: max });
  return {
    adapter: (options?: TransactionAdapterOptions) => mysql2Transactions(pool, options),
    insert: (tx: PoolConnection, name: string) =>
      tx.execute('insert into labels values (?)', [name]),
    raw: (tx: PoolConnection, text: string) => tx.query(text),
    query: (text: string) => pool.query(text),
    ends: [
      (tx: PoolConnection) => tx.commit(),
      (tx: PoolConnection) => tx.release(),
      (tx: PoolConnection) => tx.query('rollback'),
      (tx: PoolConnection) => tx.query('create table more (id int)'),
    ],
    asksBeforeCommit: false,
    close: () => pool.end(),
  };
}

export function connectKnex({ max, ...connection }: Address) {
  const silent = { warn() {}, error() {}, deprecate() {}, debug() {} };
  const knex = knexOf({ client: 'mysql2', connection, pool: { min: 0, max }, log: silent });
  return {
    adapter: (options?: TransactionAdapterOptions) => knexTransactions(knex, options),
    insert: (tx: Knex.Transaction, name: string) => tx('labels').insert({ name }),
    raw: (tx: Knex.Transaction, text: string) => tx.raw(text),
    query: (text: string) => knex.raw(text),
    ends: [
      (tx: Knex.Transaction) => tx.commit(),
      (tx: Knex.Transaction) => tx.rollback(),
      (tx: Knex.Transaction) => tx.raw('truncate labels'),
    ],
    asksBeforeCommit: false,
    close: () => knex.destroy(),
  };
}

interface Database {
  labels: { name: string };
}

export function connectKysely({ max, ...address }: Address) {
  const pool = createCallbackPool({ ...address, connectionLimit: max });
  const db = new Kysely<Database>({ dialect: new MysqlDialect({ pool }) });
  return {
    adapter: (options?: TransactionAdapterOptions) => kyselyTransactions(db, options),
    insert: (tx: Transaction<Database>, name: string) =>
      tx.insertInto('labels').values({ name }).execute(),
    raw: (tx: Transaction<Database>, text: string) => sql.raw(text).execute(tx),
    query: (text: string) => sql.raw(text).execute(db),
    ends: [
      (tx: Transaction<Database>) => sql.raw('commit').execute(tx),
      (tx: Transaction<Database>) => sql.raw('alter table labels add x int').execute(tx),
    ],
    asksBeforeCommit: true,
    close: () => db.destroy(),
  };
}

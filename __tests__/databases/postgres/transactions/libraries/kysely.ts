import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import { Pool } from 'pg';
import { kyselyTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';

interface Database {
  labels: { name: string };
}

export const KYSELY: LibraryUnderTest<Transaction<Database>> = {
  trips: { begin: 2, all: 5 },
  isLazy: false,
  async connect(address) {
    const pool = new Pool(address);
    pool.on('error', () => {});
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
    return {
      adapter: (options) => kyselyTransactions(db, { ...options, pool }),
      insert: (tx, name) => tx.insertInto('labels').values({ name }).execute(),
      raw: (tx, text) => sql.raw(text).execute(tx),
      query: (text) => pool.query(text),
      ends: [(tx) => sql.raw('commit').execute(tx)],
      close: () => db.destroy(),
    };
  },
};

import { Pool, type PoolClient } from 'pg';
import { pgTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';

export const PG: LibraryUnderTest<PoolClient> = {
  trips: { begin: 1, all: 4 },
  isLazy: false,
  async connect(address) {
    const pool = new Pool(address);
    pool.on('error', () => {});
    return {
      adapter: (options) => pgTransactions(pool, options),
      insert: (tx, name) => tx.query('insert into labels values ($1)', [name]),
      raw: (tx, text) => tx.query(text),
      query: (text) => pool.query(text),
      ends: [(tx) => tx.release(), (tx) => tx.query('COMMIT'), (tx) => tx.query('rollback')],
      close: () => pool.end(),
    };
  },
};

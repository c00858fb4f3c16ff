import postgres, { type Sql, type TransactionSql } from 'postgres';
import { postgresJsTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';

export const POSTGRES_JS: LibraryUnderTest<TransactionSql> = {
  trips: { begin: 1, all: 4 },
  isLazy: true,
  async connect(address) {
    const sql: Sql = postgres({ ...address, onnotice: () => {} });
    return {
      adapter: (options) => postgresJsTransactions(sql, options),
      insert: (tx, name) => tx`insert into labels values (${name})`,
      raw: (tx, text) => tx.unsafe(text),
      query: (text) => sql.unsafe(text),
      ends: [(tx) => tx`commit`, (tx) => tx.unsafe('rollback')],
      savepoint: (tx, inside) => tx.savepoint((inner) => inside(inner)) as Promise<unknown>,
      close: () => sql.end({ timeout: 1 }),
    };
  },
};

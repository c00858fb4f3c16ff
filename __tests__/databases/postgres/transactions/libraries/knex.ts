import knexOf, { type Knex } from 'knex';
import { knexTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';

export const KNEX: LibraryUnderTest<Knex.Transaction> = {
  trips: { begin: 1, all: 4 },
  isLazy: true,
  async connect({ max, ...connection }) {
    const silent = { warn() {}, error() {}, deprecate() {}, debug() {} };
    const knex = knexOf({ client: 'pg', connection, pool: { min: 0, max }, log: silent });
    return {
      adapter: (options) => knexTransactions(knex, options),
      insert: (tx, name) => tx('labels').insert({ name }),
      raw: (tx, text) => tx.raw(text),
      query: (text) => knex.raw(text),
      ends: [(tx) => tx.commit(), (tx) => tx.rollback(), (tx) => tx.raw('commit')],
      savepoint: (tx, inside) => tx.transaction((inner) => inside(inner)),
      close: () => knex.destroy(),
    };
  },
};

import { Sequelize, type Transaction } from 'sequelize';
import { sequelizeTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';

export const SEQUELIZE: LibraryUnderTest<Transaction> = {
  trips: { begin: 1, all: 4 },
  isLazy: false,
  async connect({ host, port, user, database, max }) {
    const options = { dialect: 'postgres', host, port, logging: false, pool: { max } } as const;
    const sequelize = new Sequelize(database, user, '', options);
    const insert = 'insert into labels values ($name)';
    return {
      adapter: (settings) => sequelizeTransactions(sequelize, settings),
      insert: (transaction, name) => sequelize.query(insert, { transaction, bind: { name } }),
      raw: (transaction, text) => sequelize.query(text, { transaction }),
      query: (text) => sequelize.query(text),
      ends: [(tx) => tx.commit(), (tx) => tx.rollback()],
      close: () => sequelize.close(),
    };
  },
};

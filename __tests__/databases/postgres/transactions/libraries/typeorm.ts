import { DataSource, type EntityManager, EntitySchema } from 'typeorm';
import { typeormTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';

const LABEL = new EntitySchema<{ name: string }>({
  name: 'Label',
  tableName: 'labels',
  columns: { name: { type: 'text', primary: true } },
});

export const TYPEORM: LibraryUnderTest<EntityManager> = {
  trips: { begin: 1, all: 4 },
  isLazy: false,
  async connect({ host, port, user, database, max }) {
    const dataSource = new DataSource({
      ...{ type: 'postgres', host, port, username: user, database, entities: [LABEL] },
      ...{ poolSize: max, installExtensions: false },
    });
    await dataSource.initialize();
    return {
      adapter: (options) => typeormTransactions(dataSource, options),
      insert: (tx, name) => tx.insert(LABEL, { name }),
      raw: (tx, text) => tx.query(text),
      query: (text) => dataSource.query(text),
      ends: [
        (tx) => tx.queryRunner?.commitTransaction(),
        (tx) => tx.queryRunner?.release(),
        (tx) => tx.query('rollback'),
      ],
      savepoint: (tx, inside) => tx.transaction((inner) => inside(inner)),
      close: () => dataSource.destroy(),
    };
  },
};

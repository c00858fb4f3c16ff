import { SqliteStore } from '../../src/stores/sqlite/index.ts';
import { TemporaryDirectory } from '../contract/sqlite/database.ts';
import { sqliteDriver } from '../contract/sqlite/driver.ts';
import { describeOperator } from './describe-operator.ts';

const driver = sqliteDriver('node:sqlite') ?? sqliteDriver('better-sqlite3-12');

describeOperator('an operator of SqliteStore', async (clock) => {
  const directory = new TemporaryDirectory();
  const handle = driver?.open(directory.file('records.db'));
  if (handle === undefined) throw new Error('There is no driver of SQLite.');
  const store = new SqliteStore(handle, { now: clock.now });
  await store.migrate();
  return {
    store,
    async close() {
      await store.close();
      handle.close();
      directory.remove();
    },
  };
});

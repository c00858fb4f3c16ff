import { transactional } from '../index.ts';
import {
  type MySqlConnection,
  MySqlStore,
  type MySqlTransactionConnection,
  mysql2Transactions,
} from '../stores/mysql/index.ts';
import type { Backend } from './backend.ts';
import { loadDriver } from './driver.ts';
import { MysqlLabels, type MysqlQueries } from './mysql-labels.ts';
import { CONNECT_TIMEOUT_MS, reached } from './server-reached.ts';

/** Records and labels in one database of MySQL or MariaDB, which any number of replicas share. */
export async function openMysqlBackend(url: string): Promise<Backend> {
  const { createPool } = loadDriver<MysqlDriver>('mysql2/promise', 'STORE=mysql');
  const uri = url.replace(/^mariadb:/, 'mysql:');
  const pool = createPool({ uri, connectTimeout: CONNECT_TIMEOUT_MS });
  const server = { name: 'MySQL', url, variable: 'DATABASE_URL' };
  await reached(server, () => Promise.resolve(pool.query('select 1')));
  const store = new MySqlStore({ client: pool });
  await store.migrate();
  await store.check();
  const labels = new MysqlLabels(pool);
  await labels.migrate();
  const pruning = store.startPruning();
  return {
    store,
    labels,
    transactional: (options) => transactional(mysql2Transactions(pool), options),
    async close() {
      await pruning.stop();
      await pool.end();
    },
  };
}

interface MysqlDriver {
  createPool(options: object): DriverPool;
}

interface DriverPool extends MysqlQueries {
  getConnection(): Promise<MySqlConnection & MySqlTransactionConnection>;
  end(): Promise<void>;
}

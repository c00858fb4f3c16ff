import { transactional } from '../index.ts';
import {
  type PgConnection,
  type PgPool,
  type PgTransactionPool,
  PostgresStore,
  pgTransactions,
} from '../stores/postgres/index.ts';
import type { Backend } from './backend.ts';
import { loadDriver } from './driver.ts';
import { PostgresLabels, type PostgresQueries } from './postgres-labels.ts';
import { CONNECT_TIMEOUT_MS, reached } from './server-reached.ts';

/** Records and labels in one PostgreSQL database, which any number of replicas may share. */
export async function openPostgresBackend(url: string): Promise<Backend> {
  const { Pool } = loadDriver<PgDriver>('pg', 'STORE=postgres');
  const pool = new Pool({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  // An idle connection that is lost ends the process without a listener; the next call reconnects.
  pool.on('error', () => {});
  const server = { name: 'PostgreSQL', url, variable: 'DATABASE_URL' };
  await reached(server, () => pool.query('select 1'));
  const store = new PostgresStore({ client: pool });
  await store.migrate();
  await store.check();
  const labels = new PostgresLabels(pool);
  await labels.migrate();
  const pruning = store.startPruning();
  return {
    store,
    labels,
    transactional: (options) => transactional(pgTransactions(pool), options),
    async close() {
      await pruning.stop();
      await pool.end();
    },
  };
}

const STATEMENT_TIMEOUT_MS = 10_000;

interface PgDriver {
  readonly Pool: new (options: object) => DriverPool;
}

interface DriverPool extends PgPool, PgTransactionPool<PgConnection>, PostgresQueries {
  connect: PgPool['connect'] & PgTransactionPool<PgConnection>['connect'];
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

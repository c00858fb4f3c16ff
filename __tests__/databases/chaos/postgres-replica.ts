import { Pool, type PoolClient } from 'pg';
import { transactional } from '../../../src/index.ts';
import { PostgresStore, pgTransactions } from '../../../src/stores/postgres/index.ts';
import type { Interruption } from '../../chaos/interruption.ts';
import { type Backend, type ReplicaTask, serveReplica } from '../../chaos/replica-program.ts';

export interface PostgresReplicaTask extends ReplicaTask {
  readonly url: string;
}

/** A store and a business table in one database. */
async function openPostgres(
  { url, leaseMs }: PostgresReplicaTask,
  interruption: Interruption,
): Promise<Backend> {
  const pool = new Pool({ connectionString: url });
  // The server ends what is idle in a transaction while this process is stopped.
  pool.on('error', () => {});
  const store = new PostgresStore({ client: pool });
  await store.migrate();
  const limits = { statementTimeoutMs: 1_200, lockTimeoutMs: 1_000, idleTimeoutMs: 1_000 };
  const adapter = interruption.watched(pgTransactions<PoolClient>(pool));
  const recovery = transactional(adapter, { leaseMs, limits });
  return {
    store,
    transactional: {
      recovery,
      async handle(running, { status, body }, res) {
        const { key, attempt } = running;
        const tx = recovery.tx({ idempotency: running });
        await tx.query('insert into effects (key, attempt) values ($1, $2)', [key, attempt]);
        interruption.reach('effect');
        res.status(status).json(body);
      },
      async effectsOf(key) {
        const text = 'select attempt from effects where key = $1 order by id';
        const { rows } = await pool.query<{ attempt: number }>(text, [key]);
        return rows.map(({ attempt }) => attempt);
      },
    },
  };
}

void serveReplica(openPostgres);

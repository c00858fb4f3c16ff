import { createPool, type PoolConnection, type RowDataPacket } from 'mysql2/promise';
import { transactional } from '../../../src/index.ts';
import { MySqlStore, mysql2Transactions } from '../../../src/stores/mysql/index.ts';
import type { Interruption } from '../../chaos/interruption.ts';
import { type Backend, type ReplicaTask, serveReplica } from '../../chaos/replica-program.ts';

export interface MySqlReplicaTask extends ReplicaTask {
  readonly url: string;
}

/** A store and a business table in one database. */
async function openMySql(
  { url, leaseMs }: MySqlReplicaTask,
  interruption: Interruption,
): Promise<Backend> {
  const pool = createPool(url);
  const store = new MySqlStore({ client: pool });
  await store.migrate();
  const limits = { statementTimeoutMs: 1_000, lockTimeoutMs: 1_000, idleTimeoutMs: 1_000 };
  const adapter = interruption.watched(mysql2Transactions<PoolConnection>(pool));
  const recovery = transactional(adapter, { leaseMs, limits });
  return {
    store,
    transactional: {
      recovery,
      async handle(running, { status, body }, res) {
        const tx = recovery.tx({ idempotency: running });
        const effect = [running.key, running.attempt];
        await tx.query('insert into effects (idempotency_key, attempt) values (?, ?)', effect);
        interruption.reach('effect');
        res.status(status).json(body);
      },
      async effectsOf(key) {
        const text = 'select attempt from effects where idempotency_key = ? order by id';
        const [rows] = await pool.query<RowDataPacket[]>(text, [key]);
        return rows.map((row) => Number(row['attempt']));
      },
    },
  };
}

void serveReplica(openMySql);

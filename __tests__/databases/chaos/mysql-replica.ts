import { createPool } from 'mysql2/promise';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { type Backend, type ReplicaTask, serveReplica } from '../../chaos/replica-program.ts';

export interface MySqlReplicaTask extends ReplicaTask {
  readonly url: string;
}

async function openMySql({ url }: MySqlReplicaTask): Promise<Backend> {
  const store = new MySqlStore({ client: createPool(url) });
  await store.migrate();
  return { store };
}

void serveReplica(openMySql);

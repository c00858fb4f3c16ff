import { Redis } from 'ioredis';
import { RedisStore } from '../../../src/stores/redis/index.ts';
import { type Backend, type ReplicaTask, serveReplica } from '../../chaos/replica-program.ts';

export interface RedisReplicaTask extends ReplicaTask {
  readonly port: number;
}

async function openRedis({ port }: RedisReplicaTask): Promise<Backend> {
  return { store: new RedisStore({ client: new Redis(port, '127.0.0.1') }) };
}

void serveReplica(openRedis);

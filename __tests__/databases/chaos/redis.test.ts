import { join } from 'node:path';
import { describeCrashes } from '../../chaos/describe-crashes.ts';
import { RedisServer } from '../servers/redis.ts';
import type { RedisReplicaTask } from './redis-replica.ts';

describeCrashes({
  storeName: 'Redis',
  program: join(__dirname, 'redis-replica.ts'),
  leaseMs: 1_000,
  transactional: undefined,
  async start() {
    const server = await RedisServer.start();
    return {
      placeOf: (): Pick<RedisReplicaTask, 'port'> => ({ port: server.port }),
      stop: () => server.stop(),
    };
  },
});

import { join } from 'node:path';
import { describeCrashes } from '../../chaos/describe-crashes.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { IN_TRANSACTIONS } from './in-transactions.ts';
import type { PostgresReplicaTask } from './postgres-replica.ts';

describeCrashes({
  storeName: 'PostgreSQL',
  program: join(__dirname, 'postgres-replica.ts'),
  leaseMs: 1_500,
  transactional: IN_TRANSACTIONS,
  async start() {
    const server = await PostgresServer.start();
    await server.query(`create table effects
                          (id bigserial primary key, key text not null, attempt int not null)`);
    return {
      placeOf: (): Pick<PostgresReplicaTask, 'url'> => ({ url: server.url }),
      stop: () => server.stop(),
    };
  },
});

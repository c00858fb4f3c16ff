import { join } from 'node:path';
import { describeCrashes } from '../../chaos/describe-crashes.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { IN_TRANSACTIONS } from './in-transactions.ts';
import type { MySqlReplicaTask } from './mysql-replica.ts';

describeCrashes({
  storeName: 'MariaDB',
  program: join(__dirname, 'mysql-replica.ts'),
  leaseMs: 1_500,
  transactional: IN_TRANSACTIONS,
  async start() {
    const server = await MariaDbServer.start();
    await server.pool().query(`create table effects (id bigint auto_increment primary key,
                                 idempotency_key varchar(64) not null, attempt int not null)`);
    return {
      placeOf: (): Pick<MySqlReplicaTask, 'url'> => ({ url: server.url }),
      stop: () => server.stop(),
    };
  },
});

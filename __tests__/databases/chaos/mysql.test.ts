import { join } from 'node:path';
import { describeCrashes } from '../../chaos/describe-crashes.ts';
import { MariaDbServer } from '../servers/mariadb.ts';

describeCrashes({
  storeName: 'MariaDB',
  program: join(__dirname, 'mysql-replica.ts'),
  leaseMs: 1_000,
  transactional: undefined,
  async start() {
    const server = await MariaDbServer.start();
    return { placeOf: () => ({ url: server.url }), stop: () => server.stop() };
  },
});

import { join } from 'node:path';
import { LOST } from '../../chaos/crash-case.ts';
import { describeCrashes } from '../../chaos/describe-crashes.ts';
import { PostgresServer } from '../servers/postgres.ts';

describeCrashes({
  storeName: 'PostgreSQL',
  program: join(__dirname, 'postgres-replica.ts'),
  leaseMs: 1_500,
  transactional: {
    points: [
      'after begin',
      'handler',
      'effect',
      'before completeIn',
      'after completeIn',
      'after commit',
    ],
    locking: [],
    losses: [['completeIn'], ['commit'], ['commit', 'inspect']],
    lossFates: LOST,
  },
  async start() {
    const server = await PostgresServer.start();
    await server.query(`create table effects
                          (id bigserial primary key, key text not null, attempt int not null)`);
    return { placeOf: () => ({ url: server.url }), stop: () => server.stop() };
  },
});

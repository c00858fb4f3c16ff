import { join } from 'node:path';
import { TemporaryDirectory } from '../contract/sqlite/database.ts';
import { describeCrashes } from './describe-crashes.ts';
import type { SqliteReplicaTask } from './sqlite-replica.ts';

/** A process that is stopped in a transaction keeps the file locked, for as long as it is. */
const WITHIN = ['after begin', 'effect', 'after completeIn'];

describeCrashes({
  storeName: 'SQLite',
  program: join(__dirname, 'sqlite-replica.ts'),
  leaseMs: 1_000,
  transactional: {
    points: ['handler', ...WITHIN, 'after commit'],
    locking: WITHIN,
    losses: [['commit']],
    lossFates: ['told of a failure'],
  },
  async start() {
    const directory = new TemporaryDirectory();
    return {
      placeOf: (lane): Pick<SqliteReplicaTask, 'path'> => ({ path: directory.file(`${lane}.db`) }),
      stop: () => directory.remove(),
    };
  },
});

import { join } from 'node:path';
import { describeProcesses } from '../describe-processes.ts';
import { startMariaDb } from './start-mariadb.ts';

describeProcesses({
  program: join(__dirname, 'claimant.ts'),
  async start() {
    const server = await startMariaDb();
    await server.newStore().migrate();
    return { place: server.url, stop: () => server.stop() };
  },
});

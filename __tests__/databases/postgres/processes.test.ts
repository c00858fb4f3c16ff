import { join } from 'node:path';
import { describeProcesses } from '../describe-processes.ts';
import { startPostgres } from './start-postgres.ts';

describeProcesses({
  program: join(__dirname, 'claimant.ts'),
  async start() {
    const server = await startPostgres();
    await server.newStore().migrate();
    return { place: server.url, stop: () => server.stop() };
  },
});

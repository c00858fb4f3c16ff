import { join } from 'node:path';
import { describeProcesses } from '../describe-processes.ts';
import { RedisServer } from '../servers/redis.ts';

describeProcesses({
  program: join(__dirname, 'claimant.ts'),
  async start() {
    const server = await RedisServer.start();
    return { place: String(server.port), stop: () => server.stop() };
  },
});

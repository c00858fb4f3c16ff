import { describeContract } from '../../contract/describe-contract.ts';
import { RedisServer } from '../servers/redis.ts';
import { redisDatabase } from './redis-database.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describeContract('RedisStore on node-redis', ['prune'], (clock) => {
  const primaries = [server.ioredis()];
  return redisDatabase({ newClient: () => server.nodeRedis(), primaries }, clock);
});

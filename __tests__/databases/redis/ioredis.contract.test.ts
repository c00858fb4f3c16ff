import { describeContract } from '../../contract/describe-contract.ts';
import { RedisServer } from '../servers/redis.ts';
import { redisDatabase } from './redis-database.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describeContract('RedisStore on ioredis', ['prune'], (clock) => {
  const primaries = [server.ioredis()];
  return redisDatabase({ newClient: async () => server.ioredis(), primaries }, clock);
});

import { describeContract } from '../../contract/describe-contract.ts';
import { RedisCluster } from '../servers/redis-cluster.ts';
import { redisDatabase } from './redis-database.ts';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await RedisCluster.start();
});
afterAll(() => cluster.stop());

describeContract('RedisStore on a cluster with ioredis', ['prune'], (clock) => {
  const { primaries } = cluster;
  return redisDatabase({ newClient: async () => cluster.ioredis(), primaries }, clock);
});

describeContract('RedisStore on a cluster with node-redis', ['prune'], (clock) => {
  const { primaries } = cluster;
  return redisDatabase({ newClient: () => cluster.nodeRedis(), primaries }, clock);
});

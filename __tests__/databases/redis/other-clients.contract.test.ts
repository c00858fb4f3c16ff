import { createClientPool } from 'redis';
import { describeContract } from '../../contract/describe-contract.ts';
import { quiet, RedisServer } from '../servers/redis.ts';
import { RedisCluster } from '../servers/redis-cluster.ts';
import { redisDatabase } from './redis-database.ts';

let server: RedisServer;
let cluster: RedisCluster;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  [server, cluster] = await Promise.all([RedisServer.start(), RedisCluster.start()]);
});
afterAll(async () => {
  for (const end of ends) end();
  await Promise.all([server.stop(), cluster.stop()]);
});

describeContract('RedisStore on ioredis with a key prefix and pipelines', ['prune'], (clock) => {
  const options = { keyPrefix: 'app[1]*:', enableAutoPipelining: true };
  const newClient = async () => server.ioredis(options);
  return redisDatabase({ newClient, primaries: [server.ioredis()], keyPrefix: 'app[1]*:' }, clock);
});

describeContract('RedisStore on a cluster with ioredis and pipelines', ['prune'], (clock) => {
  const newClient = async () => cluster.ioredis({ enableAutoPipelining: true });
  return redisDatabase({ newClient, primaries: cluster.primaries }, clock);
});

describeContract('RedisStore on a pool of node-redis', ['prune'], (clock) => {
  const newClient = async () => {
    const pool = quiet(createClientPool({ socket: { port: server.port } }));
    ends.push(() => pool.destroy());
    await pool.connect();
    return pool;
  };
  return redisDatabase({ newClient, primaries: [server.ioredis()] }, clock);
});

describeContract('RedisStore on node-redis with the older protocol', ['prune'], (clock) => {
  const newClient = () => server.nodeRedis({ RESP: 2 });
  return redisDatabase({ newClient, primaries: [server.ioredis()] }, clock);
});

import { Redis } from 'ioredis-5';
import { createClient } from 'redis-5';
import { describeContract } from '../../contract/describe-contract.ts';
import { quiet, RedisServer } from '../servers/redis.ts';
import { redisDatabase } from './redis-database.ts';

let server: RedisServer;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(async () => {
  for (const end of ends) end();
  await server.stop();
});

describeContract('RedisStore on ioredis 5', ['prune'], (clock) => {
  const newClient = async () => {
    const client = quiet(new Redis(server.port, '127.0.0.1'));
    ends.push(() => client.disconnect());
    return client;
  };
  return redisDatabase({ newClient, primaries: [server.ioredis()] }, clock);
});

describeContract('RedisStore on node-redis 5', ['prune'], (clock) => {
  const newClient = async () => {
    const client = quiet(createClient({ socket: { port: server.port } }));
    ends.push(() => client.destroy());
    await client.connect();
    return client;
  };
  return redisDatabase({ newClient, primaries: [server.ioredis()] }, clock);
});

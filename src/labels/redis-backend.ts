import { transactional } from '../index.ts';
import { type IoredisClient, RedisStore } from '../stores/redis/index.ts';
import type { Backend } from './backend.ts';
import { loadDriver } from './driver.ts';
import { CONNECT_TIMEOUT_MS, reached } from './server-reached.ts';
import { labelsOf, openLabelTable } from './sqlite-backend.ts';

/** Records in Redis; labels in a SQLite file, which replicas on one machine share. */
export async function openRedisBackend(url: string, path: string): Promise<Backend> {
  const { Redis } = loadDriver<RedisDriver>('ioredis', 'STORE=redis');
  let isConnected = false;
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A server that is not there at the start is said; one that goes away later is waited for.
    retryStrategy: (times: number) => (isConnected ? Math.min(times * 100, 2_000) : null),
  });
  const server = { name: 'Redis', url, variable: 'REDIS_URL' };
  await reached(server, () => connected(client));
  isConnected = true;
  const store = new RedisStore({ client });
  await store.check();
  const table = await openLabelTable(path);
  return {
    store,
    labels: labelsOf(table),
    // It cannot, and the middleware says so.
    transactional: (options) => transactional(undefined, options),
    async close() {
      client.disconnect();
      table.close();
    },
  };
}

interface RedisDriver {
  readonly Redis: new (url: string, options: object) => DriverClient;
}

interface DriverClient extends IoredisClient {
  on(event: 'error', listener: (error: Error) => void): unknown;
  connect(): Promise<void>;
  disconnect(): void;
}

/** What `connect` rejects with does not say what went wrong; the event does, and comes before. */
function connected(client: DriverClient): Promise<void> {
  return new Promise((resolve, reject) => {
    client.on('error', reject);
    client.connect().then(resolve, reject);
  });
}

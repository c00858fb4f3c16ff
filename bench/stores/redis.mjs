import { randomUUID } from 'node:crypto';
import { built, driver, servers } from './modules.mjs';
import { FILLED_KEY, FINGERPRINT, HEAD, idOf, RESPONSE } from './record.mjs';

const PREFIX = `idempotent-bench-${process.pid}:`;
const DAY_MS = '86400000';
const NAMES_A_CALL = 1_000;

/** Each client with an AOF that is synchronized at every write, and once a second. */
export const VARIANTS = ['ioredis', 'node-redis'].flatMap((kind) =>
  ['always', 'everysec'].map((appendfsync) => ({
    title: `Redis, ${kind}, appendfsync ${appendfsync}`,
    open: () => open(kind, appendfsync),
  })),
);

/** A server that was given keeps its settings. */
async function open(kind, appendfsync) {
  const { RedisStore } = await built('redis');
  const given = process.env['REDIS_URL'];
  const settings = { appendonly: 'yes', appendfsync };
  const server = given ? undefined : await servers('redis').RedisServer.start(settings);
  const url = given ?? `redis://127.0.0.1:${server.port}`;
  const clients = [];
  const newClient = async (db) => {
    const client = await CLIENTS[kind](url, db);
    clients.push(client);
    return client;
  };
  // A table of Redis is a database: spaces that shared one would share its hash table, too.
  const spaces = new Map();
  const adminOf = async (space) => {
    if (!spaces.has(space)) spaces.set(space, await newClient(spaces.size));
    return spaces.get(space);
  };
  const admin = await adminOf('raw');
  const [version] = /(?<=redis_version:)\S+/.exec(await admin.send('INFO', 'server')) ?? ['?'];
  return {
    about: `Redis ${version}, ${given ? 'as it is set' : `appendfsync ${appendfsync}`}`,
    raw: rawOn(admin),
    async openStore(space) {
      await adminOf(space);
      const { client } = await newClient([...spaces.keys()].indexOf(space));
      return new RedisStore({ client, prefix: PREFIX, acceptDataLoss: true });
    },
    howSized: 'used_memory',
    async sizeOf() {
      return Number(/(?<=used_memory:)\d+/.exec(await admin.send('INFO', 'memory')));
    },
    fill: async (space, count) => fill(await adminOf(space), count),
    async close() {
      if (given) for (const each of spaces.values()) await removeAll(each).catch(() => {});
      for (const client of clients) client.end();
      await server?.stop();
    },
  };
}

const CLIENTS = {
  async ioredis(url, db) {
    const { Redis } = driver('ioredis');
    const client = new Redis(url, { db });
    client.on('error', () => {});
    return {
      client,
      send: (...args) => client.call(...args),
      set: (...args) => client.set(...args),
      get: (key) => client.getBuffer(key),
      end: () => client.disconnect(),
    };
  },
  async 'node-redis'(url, database) {
    const { createClient } = driver('redis');
    const client = createClient({ url, database });
    client.on('error', () => {});
    await client.connect();
    const asBytes = { typeMapping: { 36: Buffer } };
    return {
      client,
      send: (...args) => client.sendCommand(args),
      set: (...args) => client.sendCommand(['SET', ...args]),
      get: (key) => client.sendCommand(['GET', key], asBytes),
      end: () => client.destroy(),
    };
  },
};

function rawOn({ set, get }) {
  const pending = JSON.stringify({ FINGERPRINT, owner: randomUUID(), pad: 'p'.repeat(60) });
  const completed = Buffer.concat([Buffer.from(HEAD), RESPONSE.body]);
  const nameOf = (key) => `${PREFIX}raw:{${idOf(key).toString('base64url')}}`;
  return {
    async write(key) {
      const name = nameOf(key);
      await set(name, pending);
      await set(name, completed, 'PX', DAY_MS);
    },
    read: (key) => get(nameOf(key)),
  };
}

const COPY = `local state, body = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
for _, digest in ipairs(ARGV) do
  redis.call('SET', '${PREFIX}r:{' .. digest .. '}', state, 'PX', ${DAY_MS})
  redis.call('SET', '${PREFIX}b:{' .. digest .. '}', body, 'PX', ${DAY_MS})
end
return #ARGV`;

/** Copies of a record that is there, under names that the store would give them. */
async function fill({ send }, count) {
  const [, [one]] = await send('SCAN', '0', 'MATCH', `${PREFIX}r:*`, 'COUNT', '10000');
  const body = one.replace(`${PREFIX}r:`, `${PREFIX}b:`);
  for (let first = 1; first <= count; first += NAMES_A_CALL) {
    const length = Math.min(NAMES_A_CALL, count - first + 1);
    const names = Array.from({ length }, (_, i) =>
      idOf(`${FILLED_KEY}${first + i}`).toString('base64url'),
    );
    await send('EVAL', COPY, '2', one, body, ...names);
  }
}

async function removeAll({ send }) {
  let cursor = '0';
  do {
    const [next, names] = await send('SCAN', cursor, 'MATCH', `${PREFIX}*`, 'COUNT', '1000');
    if (names.length > 0) await send('UNLINK', ...names);
    cursor = String(next);
  } while (cursor !== '0');
}

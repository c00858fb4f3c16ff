// RedisStore beside the raw driver, on a Redis of its own, in one run:
//   node bench/stores/redis.mjs [seconds a case] [rounds]
// Claim + complete is held against SET + SET, a replay against GET, with the same bytes over a
// client of the same kind. Cases alternate; what is printed is the median of the ratios of the
// rounds.
import { createHash, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
require('../../__tests__/contract/typescript-hook.cjs');
const { RedisServer } = require('../../__tests__/databases/servers/redis.ts');
const { RedisStore } = require('../../src/stores/redis/index.ts');

const seconds = Number(process.argv[2] ?? 2);
const rounds = Number(process.argv[3] ?? 5);
const CONCURRENCIES = [1, 16, 256];

const response = {
  kept: true,
  status: 201,
  headers: [
    ['Content-Type', 'application/json'],
    ['Location', '/labels/label-901'],
    ['ETag', '"label-901-v1"'],
    ['ETag', '"backup"'],
    ['X-Trace', 't'.repeat(120)],
  ],
  removedNames: [],
  body: Buffer.from(JSON.stringify({ label: 'l'.repeat(360) })),
};
const fingerprint = createHash('sha256').update('request').digest('hex');
// As the middleware does it: a deadline of its own for each call.
const call = () => ({ timeoutMs: 5_000, signal: new AbortController().signal });
const { signal } = call();

// What the raw driver writes is encoded once, ahead of time; the store encodes every response.
const pending = JSON.stringify({
  fingerprint,
  owner: randomUUID(),
  at: Date.now(),
  pad: 'p'.repeat(60),
});
const head = Buffer.from(JSON.stringify({ v: 1, ...response, body: undefined }));
const completed = Buffer.concat([head, response.body]);

const server = await RedisServer.start({ appendonly: 'no' });
const CLIENTS = {
  ioredis: async () => {
    const client = server.ioredis();
    return {
      client,
      set: (key, value, ...rest) => client.set(key, value, ...rest),
      get: (key) => client.getBuffer(key),
    };
  },
  'node-redis': async () => {
    const client = await server.nodeRedis();
    const asBytes = { typeMapping: { 36: Buffer } };
    return {
      client,
      set: (key, value, ...rest) => client.sendCommand(['SET', key, value, ...rest]),
      get: (key) => client.sendCommand(['GET', key], asBytes),
    };
  },
};

const contextOf = (key) => ({
  key,
  recordKey: key,
  tenant: undefined,
  operation: 'POST /labels',
  fingerprint,
  owner: randomUUID(),
  attempt: 1,
  signal,
});

const nameOf = (key) => `raw:{${createHash('sha256').update(key).digest('base64url')}}`;

/** What is compared, over clients of one kind. */
async function casesOn(kind) {
  const raw = await CLIENTS[kind]();
  const store = new RedisStore({ client: (await CLIENTS[kind]()).client, acceptDataLoss: true });
  return {
    raw: {
      async write(key) {
        await raw.set(nameOf(key), pending);
        await raw.set(nameOf(key), completed, 'PX', '86400000');
      },
      read: (key) => raw.get(nameOf(key)),
    },
    store: {
      async write(key) {
        const context = contextOf(key);
        await store.claim(key, fingerprint, context, call());
        await store.complete(key, response, context, call());
      },
      read: (key) => store.claim(key, fingerprint, contextOf(key), call()),
    },
  };
}

let keys = 0;

/** Calls a second, at this concurrency. */
async function rate(concurrency, run) {
  const endMs = performance.now() + seconds * 1_000;
  const startMs = performance.now();
  let done = 0;
  const worker = async () => {
    while (performance.now() < endMs) {
      await run();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (done * 1_000) / (performance.now() - startMs);
}

const newKey = () => {
  keys += 1;
  return `key ${keys} ${process.pid}`;
};

async function round(cases, concurrency, order) {
  const found = {};
  for (const name of order) {
    const { write, read } = cases[name];
    const known = newKey();
    await write(known);
    found[name] = {
      write: await rate(concurrency, () => write(newKey())),
      read: await rate(concurrency, () => read(known)),
    };
  }
  await server.ioredis().flushall();
  return found;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

console.log(`Node ${process.version}, one connection, ${rounds} rounds of ${seconds} s`);
for (const kind of Object.keys(CLIENTS)) {
  const cases = await casesOn(kind);
  await round(cases, 16, ['raw', 'store']);
  for (const concurrency of CONCURRENCIES) {
    const found = [];
    for (let n = 0; n < rounds; n += 1) {
      const order = n % 2 === 0 ? ['raw', 'store'] : ['store', 'raw'];
      found.push(await round(cases, concurrency, order));
    }
    for (const verb of ['write', 'read']) {
      const ratios = found.map(({ raw, store }) => store[verb] / raw[verb]);
      const range = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`;
      const raw = median(found.map((each) => each.raw[verb])).toFixed(0);
      const what = verb === 'write' ? 'claim + complete' : 'replay          ';
      console.log(
        `${kind.padEnd(10)}  concurrency ${String(concurrency).padStart(3)}  ${what}  ` +
          `${median(ratios).toFixed(2)} of the raw driver (${range}), which does ${raw}/s`,
      );
    }
  }
}
await server.stop();
process.exit(0);

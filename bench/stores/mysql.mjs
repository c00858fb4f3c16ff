// MySqlStore beside the raw driver, on a MariaDB of its own, in one run:
//   node bench/stores/mysql.mjs [seconds a case] [rounds]
// Claim + complete is held against INSERT + UPDATE, a replay against a SELECT by primary key, both
// with the same bytes, a pool of the same size and prepared statements. Cases alternate; what is
// printed is the median of the ratios of the rounds.
import { createHash, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
require('../../__tests__/contract/typescript-hook.cjs');
const { MariaDbServer } = require('../../__tests__/databases/servers/mariadb.ts');
const { MySqlStore } = require('../../src/stores/mysql/index.ts');

const seconds = Number(process.argv[2] ?? 2);
const rounds = Number(process.argv[3] ?? 5);
const CONCURRENCIES = [1, 16, 256];
const POOL_SIZE = 20;

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
const headers = JSON.stringify(response.headers);
const fingerprint = createHash('sha256').update('request').digest('hex');
const call = { timeoutMs: 30_000, signal: new AbortController().signal };

const server = await MariaDbServer.start({ 'innodb-buffer-pool-size': '512M' });
const pool = server.pool({ connectionLimit: POOL_SIZE });
await pool.query(`create table raw (id binary(32) primary key, fingerprint varbinary(255) not null,
  owner varbinary(255) not null, status int, headers mediumblob, body longblob) engine = InnoDB`);
const store = new MySqlStore({ client: server.pool({ connectionLimit: POOL_SIZE }) });
await store.migrate();

const contextOf = (key) => ({
  key,
  recordKey: key,
  tenant: undefined,
  operation: 'POST /labels',
  fingerprint,
  owner: randomUUID(),
  attempt: 1,
  signal: call.signal,
});
const INSERT = 'insert into raw (id, fingerprint, owner, status) values (?, ?, ?, 0)';
const UPDATE = 'update raw set status = ?, headers = ?, body = ? where id = ?';
const SELECT = 'select * from raw where id = ?';

const CASES = {
  raw: {
    async write(key) {
      const id = createHash('sha256').update(key).digest();
      await pool.execute(INSERT, [id, fingerprint, randomUUID()]);
      await pool.execute(UPDATE, [response.status, headers, response.body, id]);
    },
    read: (key) => pool.execute(SELECT, [createHash('sha256').update(key).digest()]),
  },
  store: {
    async write(key) {
      const context = contextOf(key);
      await store.claim(key, fingerprint, context, call);
      await store.complete(key, response, context, call);
    },
    read: (key) => store.claim(key, fingerprint, contextOf(key), call),
  },
};

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

async function round(concurrency, order) {
  const found = {};
  for (const name of order) {
    const { write, read } = CASES[name];
    const known = newKey();
    await write(known);
    found[name] = {
      write: await rate(concurrency, () => write(newKey())),
      read: await rate(concurrency, () => read(known)),
    };
  }
  return found;
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

const [[{ version }]] = await pool.query('select version() as version');
console.log(
  `${version}, Node ${process.version}, pool of ${POOL_SIZE}, ${rounds} rounds of ${seconds} s`,
);
await round(16, ['raw', 'store']);
for (const concurrency of CONCURRENCIES) {
  const found = [];
  for (let n = 0; n < rounds; n += 1) {
    found.push(await round(concurrency, n % 2 === 0 ? ['raw', 'store'] : ['store', 'raw']));
  }
  for (const kind of ['write', 'read']) {
    const ratios = found.map(({ raw, store }) => store[kind] / raw[kind]);
    const range = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`;
    const raw = median(found.map((each) => each.raw[kind])).toFixed(0);
    const what = kind === 'write' ? 'claim + complete' : 'replay          ';
    console.log(
      `concurrency ${String(concurrency).padStart(3)}  ${what}  ` +
        `${median(ratios).toFixed(2)} of the raw driver (${range}), which does ${raw}/s`,
    );
  }
}
await server.stop();
process.exit(0);

import { randomUUID } from 'node:crypto';
import { built, driver, servers } from './modules.mjs';
import { FILLED_KEY, FINGERPRINT, HEAD, idOf, RESPONSE } from './record.mjs';

export const VARIANTS = [{ title: 'PostgreSQL, pg', open }];
const POOL_SIZE = 20;
const SCHEMA = `idempotent_bench_${process.pid}`;

async function open() {
  const { Pool } = driver('pg');
  const { PostgresStore } = await built('postgres');
  const given = process.env['DATABASE_URL'];
  const server = given
    ? undefined
    : await servers('postgres').PostgresServer.start({ shared_buffers: '256MB' });
  const connectionString = given ?? server.url;
  const pools = [];
  const newPool = () => {
    const pool = new Pool({ connectionString, max: POOL_SIZE });
    pool.on('error', () => {});
    pools.push(pool);
    return pool;
  };
  const pool = newPool();
  await pool.query(`create schema ${SCHEMA}`);
  const tableOf = (space) => `${SCHEMA}.${space}`;
  const one = async (text) => Object.values((await pool.query(text)).rows[0])[0];
  const settings = await one(`select string_agg(name || '=' || setting, ', ' order by name)
    from pg_settings where name in ('fsync', 'synchronous_commit')`);
  return {
    about: `PostgreSQL ${await one('show server_version')}, ${settings}, pool of ${POOL_SIZE}`,
    raw: await rawOn(pool),
    async openStore(space) {
      const store = new PostgresStore({ client: newPool(), schema: SCHEMA, table: space });
      await store.migrate();
      return store;
    },
    howSized: 'pg_total_relation_size, after VACUUM, with what the UPDATEs have left behind',
    async sizeOf(space) {
      await pool.query(`vacuum ${tableOf(space)}`);
      return Number(await one(`select pg_total_relation_size('${tableOf(space)}')`));
    },
    async fill(space, count) {
      const { fields } = await pool.query(`select * from ${tableOf(space)} limit 0`);
      const others = fields.map(({ name }) => name).filter((name) => name !== 'id');
      await pool.query(`insert into ${tableOf(space)} (id, ${others.join(', ')})
        select sha256(convert_to('${FILLED_KEY}' || i, 'UTF8')), ${others.join(', ')}
          from (select * from ${tableOf(space)} limit 1) t, generate_series(1, ${count}) i`);
      await pool.query(`vacuum analyze ${tableOf(space)}`);
      await pool.query('checkpoint').catch(() => {});
    },
    async close() {
      await pool.query(`drop schema ${SCHEMA} cascade`).catch(() => {});
      await Promise.all(pools.map((each) => each.end()));
      await server?.stop();
    },
  };
}

async function rawOn(pool) {
  await pool.query(`create table ${SCHEMA}.raw (id bytea primary key, fingerprint text not null,
    owner text not null, status int, head text, body bytea)`);
  const insert = `insert into ${SCHEMA}.raw (id, fingerprint, owner, status)
    values ($1, $2, $3, 0)`;
  const update = `update ${SCHEMA}.raw set status = $2, head = $3, body = $4 where id = $1`;
  const select = `select * from ${SCHEMA}.raw where id = $1`;
  const named = (name, text, values) => pool.query({ name, text, values });
  return {
    async write(key) {
      const id = idOf(key);
      await named('insert', insert, [id, FINGERPRINT, randomUUID()]);
      await named('update', update, [id, RESPONSE.status, HEAD, RESPONSE.body]);
    },
    read: (key) => named('select', select, [idOf(key)]),
  };
}

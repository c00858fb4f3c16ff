import { randomUUID } from 'node:crypto';
import { built, driver, servers } from './modules.mjs';
import { FILLED_KEY, FINGERPRINT, HEAD, idOf, RESPONSE } from './record.mjs';

export const VARIANTS = [{ title: 'MySQL, mysql2', open }];
const POOL_SIZE = 20;
const PREFIX = `idempotent_bench_${process.pid}_`;
const ROWS_A_STATEMENT = 100_000;

async function open() {
  const { createPool } = driver('mysql2/promise');
  const { MySqlStore } = await built('mysql');
  const given = process.env['MYSQL_URL'];
  const server = given
    ? undefined
    : await servers('mariadb').MariaDbServer.start({ 'innodb-buffer-pool-size': '512M' });
  const pools = [];
  const newPool = () => {
    const pool = createPool({ uri: given ?? server.url, connectionLimit: POOL_SIZE });
    pools.push(pool);
    return pool;
  };
  const pool = newPool();
  const one = async (text) => Object.values((await pool.query(text))[0][0])[0];
  const flush = await one('select @@innodb_flush_log_at_trx_commit');
  return {
    about:
      `${await one('select version()')}, innodb_flush_log_at_trx_commit=${flush}, ` +
      `pool of ${POOL_SIZE}`,
    raw: await rawOn(pool),
    async openStore(space) {
      const store = new MySqlStore({ client: newPool(), table: PREFIX + space });
      await store.migrate();
      return store;
    },
    howSized: 'data_length + index_length of information_schema, after ANALYZE TABLE',
    async sizeOf(space) {
      await pool.query(`analyze table ${PREFIX}${space}`);
      return Number(
        await one(`select data_length + index_length from information_schema.tables
          where table_schema = database() and table_name = '${PREFIX}${space}'`),
      );
    },
    fill: (space, count) => fill(pool, PREFIX + space, count),
    async close() {
      await dropAll(pool).catch(() => {});
      await Promise.all(pools.map((each) => each.end()));
      await server?.stop();
    },
  };
}

async function rawOn(pool) {
  await pool.query(`create table ${PREFIX}raw (id binary(32) primary key,
    fingerprint varbinary(255) not null, owner varbinary(255) not null, status int,
    head mediumblob, body longblob) engine = InnoDB`);
  const insert = `insert into ${PREFIX}raw (id, fingerprint, owner, status) values (?, ?, ?, 0)`;
  const update = `update ${PREFIX}raw set status = ?, head = ?, body = ? where id = ?`;
  const select = `select * from ${PREFIX}raw where id = ?`;
  return {
    async write(key) {
      const id = idOf(key);
      await pool.execute(insert, [id, FINGERPRINT, randomUUID()]);
      await pool.execute(update, [RESPONSE.status, HEAD, RESPONSE.body, id]);
    },
    read: (key) => pool.execute(select, [idOf(key)]),
  };
}

/** Five digits a statement, since a transaction of a million rows outgrows the log. */
async function fill(pool, table, count) {
  const [, fields] = await pool.query(`select * from ${table} limit 0`);
  const others = fields.map(({ name }) => name).filter((name) => name !== 'id');
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((d) => `union select ${d}`).join(' ');
  const digit = `(select 0 d ${digits})`;
  for (let first = 1; first <= count; first += ROWS_A_STATEMENT) {
    const end = Math.min(ROWS_A_STATEMENT, count - first + 1);
    await pool.query(`insert into ${table} (id, ${others.join(', ')})
      select unhex(sha2(concat('${FILLED_KEY}', ${first} + i), 256)), ${others.join(', ')}
        from (select * from ${table} limit 1) t,
             (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as i
                from ${digit} a, ${digit} b, ${digit} c, ${digit} e, ${digit} f) n
       where i < ${end}`);
  }
  await pool.query(`analyze table ${table}`);
}

async function dropAll(pool) {
  const [rows] = await pool.query(
    `select table_name as name from information_schema.tables
    where table_schema = database() and left(table_name, ?) = ?`,
    [PREFIX.length, PREFIX],
  );
  for (const { name } of rows) await pool.query(`drop table \`${name}\``);
}

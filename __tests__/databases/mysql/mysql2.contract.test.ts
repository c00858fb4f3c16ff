import mysql, { type Pool } from 'mysql2/promise';
import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { MySqlAccess, mysqlDatabase } from './mysql-database.ts';

/** A database on a server of your own, in which tables are made and dropped. */
const { MYSQL_URL } = process.env;

const pools: Pool[] = [];
let server: MariaDbServer | undefined;
let access: MySqlAccess;

beforeAll(async () => {
  if (MYSQL_URL === undefined) server = await MariaDbServer.start();
  access = new MySqlAccess(newPool(), newPool);
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await server?.stop();
});

function newPool(): Pool {
  const pool = mysql.createPool({ uri: MYSQL_URL ?? server?.url ?? '', connectionLimit: 8 });
  pools.push(pool);
  return pool;
}

describeContract(`MySqlStore on ${MYSQL_URL ? 'a server of yours' : 'MariaDB'}`, [], (clock) =>
  mysqlDatabase(access, clock),
);

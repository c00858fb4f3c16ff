import mysql, { type Pool } from 'mysql2/promise';
import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

/** A database on a server of your own, in which tables are made and dropped. */
const { MYSQL_URL } = process.env;

let server: MariaDbServer | undefined;
let pool: Pool;

beforeAll(async () => {
  if (MYSQL_URL === undefined) server = await MariaDbServer.start();
  pool = newPool();
});
afterAll(async () => {
  await pool.end();
  await server?.stop();
});

function newPool(): Pool {
  return mysql.createPool({ uri: MYSQL_URL ?? server?.url ?? '', connectionLimit: 8 });
}

describeContract(`MySqlStore on ${MYSQL_URL ? 'a server of yours' : 'MariaDB'}`, [], (clock) =>
  mysqlDatabase({ newPool, pool }, clock),
);

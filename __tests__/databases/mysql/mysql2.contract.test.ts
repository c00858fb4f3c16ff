import mysql from 'mysql2/promise';
import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

/** A database on a server of your own, in which tables are made and dropped. */
const { MYSQL_URL } = process.env;

let makePool: (connectionLimit: number) => mysql.Pool;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (MYSQL_URL !== undefined) {
    makePool = (connectionLimit) => {
      const pool = mysql.createPool({ uri: MYSQL_URL, connectionLimit });
      ends.push(() => pool.end());
      return pool;
    };
    return;
  }
  const server = await MariaDbServer.start();
  makePool = (connectionLimit) => server.pool({ connectionLimit });
  ends.push(() => server.stop());
});
afterAll(() => Promise.all(ends.map((end) => end())));

describeContract(`MySqlStore on ${MYSQL_URL ? 'a server of yours' : 'MariaDB'}`, [], (clock) => {
  const pool = makePool(8);
  return mysqlDatabase({ newClient: () => makePool(8), pool }, clock);
});

import type { Pool } from 'mysql2/promise';
import mysql from 'mysql2-3/promise';
import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

const pools: Pool[] = [];
let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await server.stop();
});

describeContract('MySqlStore on mysql2 3.11', [], (clock) => {
  const newClient = () => {
    const pool = mysql.createPool({ ...server.address, connectionLimit: 8 });
    pools.push(pool as unknown as Pool);
    return pool;
  };
  return mysqlDatabase({ newClient, pool: server.pool() }, clock);
});

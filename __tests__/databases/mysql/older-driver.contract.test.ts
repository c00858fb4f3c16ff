import mysql, { type Pool } from 'mysql2-3/promise';
import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { MySqlAccess, mysqlDatabase } from './mysql-database.ts';

const pools: Pool[] = [];
let server: MariaDbServer;
let access: MySqlAccess;

beforeAll(async () => {
  server = await MariaDbServer.start();
  access = new MySqlAccess(server.pool(), () => {
    const pool = mysql.createPool({ ...server.address, connectionLimit: 8 });
    pools.push(pool);
    return pool;
  });
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await server.stop();
});

describeContract('MySqlStore on mysql2 3.11', [], (clock) => mysqlDatabase(access, clock));

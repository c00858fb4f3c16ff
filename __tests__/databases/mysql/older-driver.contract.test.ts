import mysql from 'mysql2-3/promise';
import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

describeContract('MySqlStore on mysql2 3.11', [], (clock) => {
  const newPool = () => mysql.createPool({ ...server.address, connectionLimit: 8 });
  return mysqlDatabase({ newPool, pool: server.pool() }, clock);
});

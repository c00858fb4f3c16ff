import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { asMySql } from './as-mysql.ts';
import { mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

describeContract('MySqlStore, with the statements that it sends to MySQL', [], (clock) => {
  const pool = server.pool();
  const newPool = () => server.pool({ connectionLimit: 8 });
  return mysqlDatabase({ newPool, wrap: asMySql, pool }, clock);
});

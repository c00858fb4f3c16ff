import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

describeContract('MySqlStore on MariaDB', [], (clock) => {
  const pool = server.pool();
  return mysqlDatabase({ newClient: () => server.pool({ connectionLimit: 8 }), pool }, clock);
});

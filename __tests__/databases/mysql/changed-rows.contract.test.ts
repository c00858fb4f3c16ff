import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start({ 'transaction-isolation': 'READ-UNCOMMITTED' });
});
afterAll(() => server.stop());

describeContract('MySqlStore without CLIENT_FOUND_ROWS, under READ UNCOMMITTED', [], (clock) => {
  const pool = server.pool();
  const newPool = () => server.pool({ connectionLimit: 8, flags: ['-FOUND_ROWS'] });
  return mysqlDatabase({ newPool, pool }, clock);
});

import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { MySqlAccess, mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;
let access: MySqlAccess;

beforeAll(async () => {
  server = await MariaDbServer.start({ 'transaction-isolation': 'READ-UNCOMMITTED' });
  const newPool = () => server.pool({ connectionLimit: 8, flags: ['-FOUND_ROWS'] });
  access = new MySqlAccess(server.pool(), newPool);
});
afterAll(() => server.stop());

describeContract('MySqlStore without CLIENT_FOUND_ROWS, under READ UNCOMMITTED', [], (clock) =>
  mysqlDatabase(access, clock),
);

import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { asMySql } from './as-mysql.ts';
import { MySqlAccess, mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;
let access: MySqlAccess;

beforeAll(async () => {
  server = await MariaDbServer.start();
  access = new MySqlAccess(server.pool(), () => asMySql(server.pool({ connectionLimit: 8 })));
});
afterAll(() => server.stop());

describeContract('MySqlStore, with the statements that it sends to MySQL', [], (clock) =>
  mysqlDatabase(access, clock),
);

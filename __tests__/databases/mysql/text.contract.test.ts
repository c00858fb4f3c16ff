import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { MySqlAccess, mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;
let access: MySqlAccess;

beforeAll(async () => {
  server = await MariaDbServer.start({
    'transaction-isolation': 'SERIALIZABLE',
    'sql-mode': 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES',
  });
  const newPool = () => server.pool({ connectionLimit: 8, charset: 'LATIN1_SWEDISH_CI' });
  access = new MySqlAccess(server.pool(), newPool, false);
});
afterAll(() => server.stop());

describeContract('MySqlStore with nothing prepared, under SERIALIZABLE, not strict', [], (clock) =>
  mysqlDatabase(access, clock),
);

import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start({
    'transaction-isolation': 'SERIALIZABLE',
    'sql-mode': 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES',
  });
});
afterAll(() => server.stop());

describeContract(
  'MySqlStore with nothing prepared, under SERIALIZABLE, not strict',
  [],
  (clock) => {
    const pool = server.pool();
    const newPool = () => server.pool({ connectionLimit: 8, charset: 'LATIN1_SWEDISH_CI' });
    return mysqlDatabase({ newPool, pool, prepare: false }, clock);
  },
);

import type { MySqlPool } from '../../../src/stores/mysql/index.ts';
import { describeContract } from '../../contract/describe-contract.ts';
import { MariaDbServer } from '../servers/mariadb.ts';
import { mysqlDatabase } from './mysql-database.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

/** A pool whose server calls itself MySQL: then the store sends it what MySQL understands. */
function asMySql(pool: MySqlPool): MySqlPool {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      const query = async (statement: { readonly sql: string }) => {
        const [rows] = (await connection.query(statement as never)) as [Record<string, unknown>[]];
        if (!statement.sql.startsWith('show variables')) return [rows];
        return [
          rows.map((row) =>
            row['Variable_name'] === 'version' ? { ...row, Value: '8.0.41' } : row,
          ),
        ];
      };
      const execute = (statement: { readonly sql: string }) => {
        if (/^set statement/.test(statement.sql)) throw new Error('MySQL does not know this.');
        return connection.execute(statement as never);
      };
      return Object.assign(Object.create(connection), { query, execute });
    },
  };
}

describeContract('MySqlStore, with the statements that it sends to MySQL', [], (clock) => {
  const pool = server.pool();
  const newClient = () => asMySql(server.pool({ connectionLimit: 8 }));
  return mysqlDatabase({ newClient, pool }, clock);
});

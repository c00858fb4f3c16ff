import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { PostgresAccess, postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;
let access: PostgresAccess;

beforeAll(async () => {
  server = await PostgresServer.start();
  const pool = server.pool({ max: 8 });
  access = new PostgresAccess(pool, () => ({
    query: (text: string, values: unknown[]) => pool.query(text, values),
  }));
});
afterAll(() => server.stop());

describeContract('PostgresStore on anything with query(text, values)', [], (clock) =>
  postgresDatabase(access, clock),
);

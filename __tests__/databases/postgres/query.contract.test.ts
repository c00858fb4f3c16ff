import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

describeContract('PostgresStore on anything with query(text, values)', [], (clock) => {
  const pool = server.pool({ max: 8 });
  const newClient = () => ({
    query: (text: string, values: unknown[]) => pool.query(text, values),
  });
  return postgresDatabase({ newClient, pool }, clock);
});

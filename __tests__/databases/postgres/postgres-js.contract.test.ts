import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

describeContract('PostgresStore on postgres.js', [], (clock) => {
  const pool = server.pool();
  return postgresDatabase(
    { newClient: () => server.sql({ max: 8, idle_timeout: 1 }), pool },
    clock,
  );
});

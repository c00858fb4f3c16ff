import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start({}, 'package');
});
afterAll(() => server.stop());

describeContract('PostgresStore on the PostgreSQL 18 of the npm package', [], (clock) => {
  const pool = server.pool();
  return postgresDatabase({ newClient: () => server.pool({ max: 8 }), pool }, clock);
});

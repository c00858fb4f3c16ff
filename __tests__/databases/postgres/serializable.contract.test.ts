import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start({ default_transaction_isolation: 'serializable' });
});
afterAll(() => server.stop());

describeContract('PostgresStore where transactions are SERIALIZABLE by default', [], (clock) => {
  const pool = server.pool();
  return postgresDatabase({ newClient: () => server.pool({ max: 8 }), pool }, clock);
});

import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { PostgresAccess, postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;
let access: PostgresAccess;

beforeAll(async () => {
  server = await PostgresServer.start();
  access = new PostgresAccess(server.pool(), () => server.sql({ max: 8 }));
});
afterAll(() => server.stop());

describeContract('PostgresStore on postgres.js', [], (clock) => postgresDatabase(access, clock));

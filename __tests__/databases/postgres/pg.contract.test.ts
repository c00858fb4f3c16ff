import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { PostgresAccess, postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;
let access: PostgresAccess;

beforeAll(async () => {
  server = await PostgresServer.start();
  access = new PostgresAccess(server.pool(), () => server.pool({ max: 8 }));
});
afterAll(() => server.stop());

describeContract('PostgresStore on pg', [], (clock) => postgresDatabase(access, clock));

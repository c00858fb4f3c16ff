import { describeContract } from '../../contract/describe-contract.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { PostgresAccess, postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;
let access: PostgresAccess;

beforeAll(async () => {
  server = await PostgresServer.start({}, 'package');
  access = new PostgresAccess(server.pool(), () => server.pool({ max: 8 }));
});
afterAll(() => server.stop());

describeContract('PostgresStore on the PostgreSQL 18 of the npm package', [], (clock) =>
  postgresDatabase(access, clock),
);

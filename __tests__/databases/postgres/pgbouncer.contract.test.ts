import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { describeContract } from '../../contract/describe-contract.ts';
import { callsOf, failureOf } from '../calls.ts';
import { Pgbouncer } from '../servers/pgbouncer.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { PostgresAccess, postgresDatabase } from './postgres-database.ts';

let server: PostgresServer;
let bouncer: Pgbouncer;
let onPg: PostgresAccess;
let onPostgresJs: PostgresAccess;

beforeAll(async () => {
  server = await PostgresServer.start();
  bouncer = await Pgbouncer.start(server, 4);
  const sql = () => server.sql({ ...through(), prepare: false });
  onPg = new PostgresAccess(server.pool(), () => server.pool(through()), false);
  onPostgresJs = new PostgresAccess(server.pool(), sql, false);
});
afterAll(async () => {
  await bouncer.stop();
  await server.stop();
});

/** Fewer connections behind the pooler than before it: transactions of many share each. */
function through() {
  return { port: bouncer.port, max: 8 };
}

describeContract('PostgresStore on pg, through pgbouncer in transaction mode', [], (clock) =>
  postgresDatabase(onPg, clock),
);

describeContract('PostgresStore on postgres.js, through pgbouncer', [], (clock) =>
  postgresDatabase(onPostgresJs, clock),
);

test('a store that keeps statements prepared where the pooler does not says so', async () => {
  const newStore = () => new PostgresStore({ client: server.pool({ ...through(), max: 1 }) });
  await new PostgresStore({ client: server.pool() }).migrate();
  const [one, two] = [callsOf(newStore()), callsOf(newStore())];
  // Both prepare it under one name, on the one connection that is free behind the pooler.
  await one.claim('A');
  const { code, message } = await failureOf(two.claim('B'));
  expect(code).toBe('database_unusable');
  expect(message).toContain('prepare: false');
});

import type { PoolClient } from 'pg';
import type { Sql } from 'postgres';
import { PostgresServer } from '../servers/postgres.ts';
import { describeCompletions } from '../sql/describe-completions.ts';
import { describeLeases, describeTakeovers } from '../sql/describe-leases.ts';
import { describeSettling } from '../sql/describe-settling.ts';
import { serverForAll } from '../sql/sql-database.ts';
import { postgresDialect } from './start-postgres.ts';

let server: PostgresServer;

const database = serverForAll(async () => {
  server = await PostgresServer.start();
  return postgresDialect(server);
});

describeLeases(database);
describeTakeovers(database);
describeSettling(database);
describeCompletions(database, {
  async pg(write: (tx: PoolClient) => Promise<unknown>) {
    const client = await server.pool().connect();
    try {
      await client.query("begin; insert into labels values ('made')");
      await write(client);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  },
  async 'postgres.js'(write: (tx: Sql) => Promise<unknown>) {
    await server.sql().begin(async (sql) => {
      await sql`insert into labels values ('made')`;
      await write(sql as never);
    });
  },
});

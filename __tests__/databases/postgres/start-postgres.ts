import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { PostgresStore } from '../../../src/stores/postgres/index.ts';
import { PostgresServer, type PostgresSettings } from '../servers/postgres.ts';
import type { Saved, SqlDatabase } from '../sql/sql-database.ts';

/** PostgreSQL behind `pg`. */
export async function startPostgres(settings: PostgresSettings = {}): Promise<SqlDatabase> {
  return postgresDialect(await PostgresServer.start(settings));
}

export function postgresDialect(server: PostgresServer): SqlDatabase {
  const pool = server.pool();
  return {
    url: server.url,
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
    newStore: (options = {}) => new PostgresStore({ client: server.pool(), ...options }),
    rows: async (text) => (await pool.query(text)).rows,
    async lock(key) {
      const client = await pool.connect();
      await client.query('begin');
      const text = 'select from idempotency_records where id = $1 for update';
      await client.query(text, [recordKeyDigest(key)]);
      return async () => {
        await client.query('rollback');
        client.release();
      };
    },
    async saved(key) {
      const text = 'select head, body from idempotency_records where id = $1';
      const { rows } = await pool.query<Saved>(text, [recordKeyDigest(key)]);
      return rows[0];
    },
    async overwriteSaved(key, { head, body }) {
      const text = `update idempotency_records
        set head = coalesce($1, head), body = coalesce($2, body) where id = $3`;
      await pool.query(text, [head, body, recordKeyDigest(key)]);
    },
  };
}

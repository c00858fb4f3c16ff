import type { RowDataPacket } from 'mysql2/promise';
import { recordKeyDigest } from '../../../src/core/record-key.ts';
import { MySqlStore } from '../../../src/stores/mysql/index.ts';
import { MariaDbServer, type MariaDbSettings } from '../servers/mariadb.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** MariaDB behind `mysql2`. */
export async function startMariaDb(settings: MariaDbSettings = {}): Promise<SqlDatabase> {
  return mariaDbDialect(await MariaDbServer.start(settings));
}

export function mariaDbDialect(server: MariaDbServer): SqlDatabase {
  const pool = server.pool();
  const rows = async (text: string, values: unknown[] = []) => {
    const [found] = await pool.query<RowDataPacket[]>(text, values);
    return Array.isArray(found) ? found : [];
  };
  return {
    url: server.url,
    kill: () => server.kill(),
    restart: () => server.restart(),
    stop: () => server.stop(),
    newStore: (options = {}) => new MySqlStore({ client: server.pool(), ...options }),
    rows: (text) => rows(text),
    async lock(key) {
      const connection = await pool.getConnection();
      await connection.query('begin');
      const text = 'select 1 from idempotency_records where id = ? for update';
      await connection.query(text, [recordKeyDigest(key)]);
      return async () => {
        await connection.query('rollback');
        connection.release();
      };
    },
    async saved(key) {
      const text = `select response_head as head, response_body as body
        from idempotency_records where id = ?`;
      const [row] = await rows(text, [recordKeyDigest(key)]);
      return row && { head: textOf(row['head']), body: row['body'] };
    },
    async overwriteSaved(key, { head = null, body = null }) {
      const text = `update idempotency_records set response_head = coalesce(?, response_head),
        response_body = coalesce(?, response_body) where id = ?`;
      await pool.query(text, [head, body, recordKeyDigest(key)]);
    },
  };
}

function textOf(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString();
}

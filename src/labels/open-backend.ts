import type { Backend } from './backend.ts';
import { openMysqlBackend } from './mysql-backend.ts';
import { openPostgresBackend } from './postgres-backend.ts';
import { openRedisBackend } from './redis-backend.ts';
import type { StoreSettings } from './service-settings.ts';
import { openSqliteBackend } from './sqlite-backend.ts';

/**
 * Opens what holds the records and the labels, and makes their tables where they are not there.
 *
 * Rejects with one sentence that says what is to be mended.
 */
export async function openBackend(settings: StoreSettings): Promise<Backend> {
  switch (settings.kind) {
    case 'sqlite':
      return openSqliteBackend(settings.path);
    case 'postgres':
      return openPostgresBackend(settings.url);
    case 'mysql':
      return openMysqlBackend(settings.url);
    case 'redis':
      return openRedisBackend(settings.url, settings.path);
    default:
      return settings satisfies never;
  }
}

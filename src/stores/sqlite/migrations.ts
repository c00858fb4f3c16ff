import { IdempotencyError } from '../../core/errors.ts';
import type { SqliteConnection } from './handle.ts';
import { isBusy, notMigrated } from './sqlite-error.ts';
import { DEFAULT_TABLE, quoted } from './table-name.ts';

/** One numbered step of the schema. Steps are only ever added, never changed. */
export interface SqliteMigration {
  readonly version: number;
  /** Whether a package that does not know this step must not touch the tables any more. */
  readonly breaking: boolean;
  readonly sql: string;
}

/**
 * The schema as SQL, for those who run migrations with a tool of their own. Whoever does that runs
 * the step and its row in the migrations table in one transaction.
 */
export function sqliteMigrations(table: string = DEFAULT_TABLE): readonly SqliteMigration[] {
  return [{ version: 1, breaking: true, sql: firstSchema(table) }];
}

/**
 * - `id` is the SHA-256 of the record key: compared byte for byte, whatever the key holds. A table
 *   with rowid, since the rows are too wide for a clustered key.
 * - `state` is 0 pending, 1 completed, 2 tombstone. Times are milliseconds since 1970.
 * - `created_at` is the first claim of this record, and stays through takeovers. `lease_until` is
 *   null when the claim took no lease.
 * - `expires_at` ends the result, `forget_at` the tombstone: written at completion, so that every
 *   process judges a record by the retention it was completed with.
 * - `settlement` is who ended a pending record by hand, and why.
 * - The indexes are partial, so that a record is in one of them at a time: what is stuck, what is
 *   to become a tombstone, what is to be forgotten.
 */
function firstSchema(table: string): string {
  const name = (suffix: string) => quoted(`${table}${suffix}`);
  return `CREATE TABLE ${name('')} (
  id              BLOB    NOT NULL PRIMARY KEY,
  tenant          TEXT,
  operation       TEXT,
  idempotency_key TEXT    NOT NULL,
  fingerprint     TEXT    NOT NULL,
  owner           TEXT    NOT NULL,
  attempt         INTEGER NOT NULL,
  state           INTEGER NOT NULL,
  head            TEXT,
  body            BLOB,
  created_at      INTEGER NOT NULL,
  lease_until     INTEGER,
  completed_at    INTEGER,
  expires_at      INTEGER,
  forget_at       INTEGER,
  settlement      TEXT
) STRICT;
CREATE INDEX ${name('_pending')} ON ${name('')} (created_at) WHERE state = 0;
CREATE INDEX ${name('_results')} ON ${name('')} (expires_at) WHERE state = 1;
CREATE INDEX ${name('_tombstones')} ON ${name('')} (forget_at) WHERE state = 2;`;
}

/** Brings the tables to this version, in one transaction. Throws while another holds the lock. */
export function migrate(connection: SqliteConnection, table: string, nowMs: number): void {
  connection.exec('BEGIN IMMEDIATE');
  try {
    connection.exec(
      `CREATE TABLE IF NOT EXISTS ${migrationsTable(table)} (
        version INTEGER NOT NULL PRIMARY KEY, breaking INTEGER NOT NULL, applied_at INTEGER NOT NULL
      ) STRICT`,
    );
    const version = versionOf(connection, table);
    for (const step of sqliteMigrations(table)) {
      if (step.version <= version) continue;
      connection.exec(step.sql);
      connection.run(
        `INSERT INTO ${migrationsTable(table)} (version, breaking, applied_at) VALUES (?, ?, ?)`,
        step.version,
        step.breaking ? 1 : 0,
        nowMs,
      );
    }
    connection.exec('COMMIT');
  } catch (error) {
    // Some errors have rolled back already.
    connection.rollBack();
    throw error;
  }
}

/** @throws {IdempotencyError} `store_not_migrated` unless the tables are what this code knows. */
export function checkMigrated(connection: SqliteConnection, table: string, database: string): void {
  let version: number;
  try {
    version = versionOf(connection, table);
  } catch (error) {
    if (isBusy(error) || error instanceof IdempotencyError) throw error;
    throw notMigrated(`${database} has no tables of this store`, { cause: error });
  }
  const needed = sqliteMigrations(table).length;
  if (version < needed) {
    throw notMigrated(`${database} has tables of version ${version}, expected ${needed}`);
  }
}

/** The number of the last step applied. */
function versionOf(connection: SqliteConnection, table: string): number {
  const row = connection.get(
    `SELECT max(version) AS version, max(CASE WHEN breaking THEN version END) AS breaking
       FROM ${migrationsTable(table)}`,
  );
  const known = sqliteMigrations(table).length;
  const breaking = Number(row?.['breaking'] ?? 0);
  if (breaking > known) {
    throw new IdempotencyError(
      'store_not_migrated',
      `The tables are of version ${breaking}, and this package knows no later one than ${known}. ` +
        'A newer express-idempotent has changed them: update this one.',
    );
  }
  return Number(row?.['version'] ?? 0);
}

function migrationsTable(table: string): string {
  return quoted(`${table}_migrations`);
}

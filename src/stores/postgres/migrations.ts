import { IdempotencyError } from '../../core/errors.ts';
import type { PostgresSession } from './session.ts';
import { DEFAULT_SCHEMA, DEFAULT_TABLE, Table } from './table.ts';

/** One numbered step of the schema. Steps are only ever added, never changed. */
export interface PostgresMigration {
  readonly version: number;
  /** Whether a package that does not know this step must not touch the table any more. */
  readonly breaking: boolean;
  readonly sql: string;
}

/** Which table the SQL is for. */
export interface PostgresTableName {
  readonly schema?: string;
  readonly table?: string;
}

/**
 * The schema as SQL, for those who run migrations with a tool of their own. Run each step in one
 * transaction; it also notes its number in the table of migrations, as `migrate()` does.
 */
export function postgresMigrations(name: PostgresTableName = {}): readonly PostgresMigration[] {
  const table = new Table(name.schema ?? DEFAULT_SCHEMA, name.table ?? DEFAULT_TABLE);
  return stepsOf(table).map(({ version, breaking, sql }) => ({
    version,
    breaking,
    sql: `${version === 1 ? `${migrationsTable(table)}\n` : ''}${sql}
insert into ${table.migrations} (version, breaking) values (${version}, ${breaking});`,
  }));
}

/**
 * All steps that are missing, as one statement, hence one transaction through any pooler. The lock
 * makes replicas that start at once wait for each other. Notices are avoided: postgres.js prints
 * them. A newer step that breaks is left to the caller to see, by the number it reads afterwards.
 */
export function migrateStatement(table: Table): string {
  const steps = stepsOf(table).map(
    ({ version, breaking, sql }) => `
  if not exists (select from ${table.migrations} where version >= ${version}) then
    ${sql}
    insert into ${table.migrations} (version, breaking) values (${version}, ${breaking});
  end if;`,
  );
  return `do $idempotent$ begin
  perform pg_advisory_xact_lock(hashtextextended('express-idempotent ${table.title}', 0));
  if to_regnamespace('${table.schema}') is null then
    create schema ${table.schema};
  end if;
  if to_regclass('${table.migrations}') is null then
    ${migrationsTable(table)}
  end if;${steps.join('')}
end $idempotent$`;
}

/** @throws {IdempotencyError} `store_not_migrated` unless the table is what this code knows. */
export async function checkVersion(
  session: PostgresSession,
  table: Table,
  endMs: number,
): Promise<void> {
  const statement = table.statement(
    'version',
    ['version', 'breaking'],
    0,
    () => `
select coalesce(max(version), 0)::text as version,
       coalesce(max(version) filter (where breaking), 0)::text as breaking
  from ${table.migrations}`,
  );
  const [row] = await session.run(statement, [], endMs);
  const known = stepsOf(table).length;
  if (Number(row?.['breaking']) > known) {
    throw new IdempotencyError(
      'store_not_migrated',
      `The table ${table.title} is of version ${row?.['breaking']}, and this package knows no ` +
        `later one than ${known}. A newer express-idempotent has changed it: update this one.`,
    );
  }
  if (Number(row?.['version']) < known) {
    throw new IdempotencyError(
      'store_not_migrated',
      `The table ${table.title} is of version ${row?.['version']}, expected ${known}: ` +
        'await store.migrate().',
    );
  }
}

function migrationsTable(table: Table): string {
  return `create table ${table.migrations} (
  version    integer     not null primary key,
  breaking   boolean     not null,
  applied_at timestamptz not null default now()
);`;
}

function stepsOf(table: Table): PostgresMigration[] {
  return [{ version: 1, breaking: true, sql: firstSchema(table) }];
}

/**
 * - `id` is the SHA-256 of the record key: of one width, compared byte for byte, whatever the key
 *   holds. Tenant, operation and key are for people; nothing is compared with them.
 * - `state` is 0 pending, 1 completed. `tombstone` is set when pruning has removed the response.
 * - `created_at` is the first claim of this record, and stays through takeovers. `lease_until` is
 *   null when the claim took no lease.
 * - `expires_at` ends the result, `forget_at` the tombstone: written at completion, so that every
 *   process judges a record by the retention it was completed with.
 * - `settlement` is who ended a pending record by hand, and why.
 * - The one index besides the key holds nothing that a completion changes, and a page has room for
 *   the completed row (fillfactor): so a completion writes the row and no index.
 * - Small tables are left alone by autovacuum. While it has not looked, the planner takes the table
 *   for ten pages and uses the key; a statement that was prepared when the table was known to be
 *   one page would read all of it, also after it has grown.
 */
function firstSchema(table: Table): string {
  return `create table ${table.name} (
  id              bytea       not null primary key,
  created_at      timestamptz not null,
  lease_until     timestamptz,
  completed_at    timestamptz,
  expires_at      timestamptz,
  forget_at       timestamptz,
  attempt         integer     not null,
  state           smallint    not null,
  tombstone       boolean     not null default false,
  fingerprint     text collate "C" not null,
  owner           text collate "C" not null,
  tenant          text,
  operation       text,
  idempotency_key text        not null,
  head            text,
  body            bytea,
  settlement      text
) with (
  fillfactor = 70,
  autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_threshold = 5000, autovacuum_analyze_scale_factor = 0.02
);
create index ${table.index} on ${table.name} (tombstone, created_at);`;
}

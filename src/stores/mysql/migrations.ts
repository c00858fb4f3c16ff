import { hash } from 'node:crypto';
import { IdempotencyError } from '../../core/errors.ts';
import type { Row, Send } from './driver.ts';
import { saysThatItIsThere, saysThatTableIsMissing } from './mysql-error.ts';
import { isTrue } from './record-row.ts';
import { type MySqlSession, SERVER_COLUMNS } from './session.ts';
import type { Query } from './statement.ts';
import { DEFAULT_TABLE, Table } from './table.ts';

/** One numbered step of the schema. Steps are only ever added, never changed. */
export interface MySqlMigration {
  readonly version: number;
  /** Whether a package that does not know this step must not touch the table any more. */
  readonly breaking: boolean;
  readonly sql: string;
}

/** Which table the SQL is for. */
export interface MySqlTableName {
  readonly table?: string;
}

/**
 * The schema as SQL, for those who run migrations with a tool of their own. Each step is several
 * statements with a semicolon behind each; the last one notes its number in the table of
 * migrations, as `migrate()` does.
 */
export function mysqlMigrations(name: MySqlTableName = {}): readonly MySqlMigration[] {
  const table = new Table(name.table ?? DEFAULT_TABLE);
  return stepsOf(table).map(({ version, breaking, statements }) => {
    const all = [
      ...(version === 1 ? [migrationsTable(table)] : []),
      ...statements,
      noteOf(table, version, breaking),
    ];
    return { version, breaking, sql: all.map((statement) => `${statement};`).join('\n') };
  });
}

/**
 * All steps that are missing. MySQL commits each statement that changes a schema, so a step that
 * was interrupted is done again: its statements say `if not exists`. The lock makes replicas that
 * start at once wait for each other; where it is none (it does not reach other nodes of a cluster),
 * nothing worse happens than that a step is done twice. A newer step that breaks is left to the
 * caller to see, by the number it reads afterwards.
 */
export async function migrate(session: MySqlSession, table: Table, endMs: number): Promise<void> {
  await session.onOne(endMs, async (send) => {
    // Whoever may only read and write rows can call it as well, when there is nothing to do.
    if ((await versionOf(send, table)) >= stepsOf(table).length) return;
    const lock = await lockNameOf(send, table);
    const waitS = Math.floor((endMs - performance.now()) / 1_000);
    const { rows } = await send(fixed(`select get_lock('${lock}', ${waitS}) as locked`));
    if (!isTrue(rows[0] ?? {}, 'locked')) throw notMigrated(STILL_LOCKED);
    try {
      await runSteps(send, table);
    } finally {
      await send(fixed(`select release_lock('${lock}')`));
    }
  });
}

const STILL_LOCKED = 'Another process has been migrating the same table for too long.';

async function runSteps(send: Send, table: Table): Promise<void> {
  await send(fixed(migrationsTable(table)));
  const found = await versionOf(send, table);
  for (const { version, breaking, statements } of stepsOf(table)) {
    if (version <= found) continue;
    for (const statement of statements) await send(fixed(statement));
    try {
      await send(fixed(noteOf(table, version, breaking)));
    } catch (error) {
      if (!saysThatItIsThere(error)) throw error;
    }
  }
}

/** The last step that was done; 0 when there is no table that would say so. */
async function versionOf(send: Send, table: Table): Promise<number> {
  try {
    const { rows } = await send(fixed(`select max(version) as version from ${table.migrations}`));
    return Number(rows[0]?.['version'] ?? 0);
  } catch (error) {
    if (saysThatTableIsMissing(error)) return 0;
    throw error;
  }
}

/** Names of locks hold for the whole server, and are of up to 64 characters. */
async function lockNameOf(send: Send, table: Table): Promise<string> {
  const { rows } = await send(fixed('select hex(database()) as name'));
  const where = `${String(rows[0]?.['name'])} ${table.title}`;
  return `express-idempotent ${hash('sha256', where).slice(0, 32)}`;
}

/** @throws {IdempotencyError} `store_not_migrated` unless the table is what this code knows. */
export async function checkVersion(
  session: MySqlSession,
  table: Table,
  endMs: number,
): Promise<void> {
  const text = `select max(version) as version, max(version * breaking) as breaking,
    ${SERVER_COLUMNS} from ${table.migrations}`;
  const [row = {}] = await session.read(fixed(text), endMs);
  const known = stepsOf(table).length;
  const numberIn = (column: string) => Number((row satisfies Row)[column] ?? 0);
  if (numberIn('breaking') > known) {
    throw notMigrated(
      `The table ${table.title} is of version ${numberIn('breaking')}, and this package knows no ` +
        `later one than ${known}. A newer express-idempotent has changed it: update this one.`,
    );
  }
  if (numberIn('version') < known) {
    throw notMigrated(
      `The table ${table.title} is of version ${numberIn('version')}, expected ${known}: ` +
        'await store.migrate().',
    );
  }
}

function notMigrated(message: string): IdempotencyError {
  return new IdempotencyError('store_not_migrated', message);
}

function fixed(text: string): Query {
  return { text, values: [], isFixed: false };
}

function migrationsTable(table: Table): string {
  return `create table if not exists ${table.migrations} (
  version    int         not null primary key,
  breaking   tinyint     not null,
  applied_at datetime(3) not null
) engine = InnoDB`;
}

function noteOf(table: Table, version: number, breaking: boolean): string {
  return `insert into ${table.migrations} (version, breaking, applied_at)
values (${version}, ${breaking ? 1 : 0}, utc_timestamp(3))`;
}

interface Step {
  readonly version: number;
  readonly breaking: boolean;
  readonly statements: readonly string[];
}

function stepsOf(table: Table): readonly Step[] {
  return [{ version: 1, breaking: true, statements: [firstSchema(table)] }];
}

/**
 * - `id` is the SHA-256 of the record key: of one width, compared byte for byte, whatever the key
 *   holds. Tenant, operation and key are for people; nothing is compared with them.
 * - All text is kept as bytes: the usual collations take `k`, `K`, `k ` and `ḱ` for one key. The
 *   types are longer than any value, since outside of strict mode MySQL cuts off what is too long.
 * - `state` is 0 pending, 1 completed. `tombstone` is set when pruning has removed the response.
 * - `created_at` is the first claim of this record, and stays through takeovers. `lease_until` is
 *   null when the claim took no lease. All times are UTC, whatever the time zone of a connection.
 * - `expires_at` ends the result, `forget_at` the tombstone: written at completion, so that every
 *   process judges a record by the retention it was completed with.
 * - `settlement` is who ended a pending record by hand, and why.
 * - The one index besides the key holds nothing that a completion changes.
 */
function firstSchema(table: Table): string {
  return `create table if not exists ${table.name} (
  id              binary(32)  not null primary key,
  created_at      datetime(3) not null,
  lease_until     datetime(3),
  completed_at    datetime(3),
  expires_at      datetime(3),
  forget_at       datetime(3),
  attempt         int         not null,
  state           tinyint     not null,
  tombstone       tinyint     not null,
  fingerprint     mediumblob  not null,
  owner           mediumblob  not null,
  tenant          mediumblob,
  operation       mediumblob,
  idempotency_key mediumblob  not null,
  response_head   longblob,
  response_body   longblob,
  settlement      mediumblob,
  key ${table.index} (tombstone, created_at)
) engine = InnoDB row_format = dynamic`;
}

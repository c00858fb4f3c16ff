import { IdempotencyError } from '../../core/errors.ts';
import type { Row, Statement } from './driver.ts';
import type { PostgresSession } from './session.ts';
import type { Table } from './table.ts';

/** The settings that decide whether an acknowledged record outlives a crash of the server. */
export interface PostgresDurability {
  /** Whether every acknowledged claim and response outlives a crash and a power cut. */
  readonly durable: boolean;
  /** What the settings mean, a sentence each. */
  readonly sentences: readonly string[];
  readonly serverVersion: string;
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  readonly unlogged: boolean;
  readonly standby: boolean;
  readonly defaultIsolation: string;
  readonly statementTimeout: string;
}

const COLUMNS = [
  'server_version',
  'synchronous_commit',
  'synchronous_standby_names',
  'fsync',
  'full_page_writes',
  'default_transaction_isolation',
  'statement_timeout',
] as const;

/** The settings of a connection of this very role, as the store's own statements have them. */
const read = (table: Table): Statement =>
  table.statement(
    'check',
    [...COLUMNS, 'read_only', 'persistence'],
    0,
    () => `
select ${COLUMNS.map((name) => `current_setting('${name}') as ${name}`).join(', ')},
       (pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on')::text
         as read_only,
       (select relpersistence::text from pg_class where oid = to_regclass('${table.name}'))
         as persistence`,
  );

/** Reads the settings, and says what they mean. */
export async function readDurability(
  session: PostgresSession,
  table: Table,
  endMs: number,
): Promise<PostgresDurability> {
  const [row] = await session.run(read(table), [], endMs);
  if (row === undefined) throw new Error('PostgreSQL answered no settings.');
  if (row['persistence'] === null) {
    throw new IdempotencyError(
      'store_not_migrated',
      `The table ${table.title} is not there: await store.migrate() before check().`,
    );
  }
  const sentences = [...dangersIn(row, table), meaningOf(row), ...noticesOf(row)];
  return {
    durable: dangersIn(row, table).length === 0,
    sentences,
    serverVersion: text(row, 'server_version'),
    synchronousCommit: text(row, 'synchronous_commit'),
    synchronousStandbyNames: text(row, 'synchronous_standby_names'),
    fsync: row['fsync'] === 'on',
    fullPageWrites: row['full_page_writes'] === 'on',
    unlogged: row['persistence'] !== 'p',
    standby: row['read_only'] === 'true',
    defaultIsolation: text(row, 'default_transaction_isolation'),
    statementTimeout: text(row, 'statement_timeout'),
  };
}

/**
 * @throws {IdempotencyError} `store_read_only`, and `database_unusable` when records can be lost
 *   and that is not accepted.
 */
export function refuseDataLoss(found: PostgresDurability, acceptDataLoss: boolean): void {
  if (found.standby) {
    throw new IdempotencyError(
      'store_read_only',
      'This PostgreSQL server takes no writes: it is a standby, or default_transaction_read_only ' +
        'is on. Connect to the primary (target_session_attrs=read-write).',
    );
  }
  if (found.durable) return;
  const [danger] = found.sentences;
  if (acceptDataLoss) {
    warnOnce(`PostgresStore: ${danger} This was accepted with acceptDataLoss.`);
    return;
  }
  throw new IdempotencyError(
    'database_unusable',
    `${danger} Change the setting, or accept it with acceptDataLoss: true.`,
  );
}

/** What makes the promise of the store false. */
function dangersIn(row: Row, table: Table): string[] {
  const dangers: string[] = [];
  if (row['synchronous_commit'] === 'off') {
    dangers.push(
      'synchronous_commit is off: a crash of the server loses what it acknowledged in the last ' +
        'moments, and those actions run again. ALTER ROLE … SET synchronous_commit = on.',
    );
  }
  if (row['fsync'] === 'off') {
    dangers.push('fsync is off: a power cut loses acknowledged records, or all of the database.');
  }
  if (row['full_page_writes'] === 'off') {
    dangers.push('full_page_writes is off: a power cut in the middle of a write corrupts pages.');
  }
  if (row['persistence'] !== 'p') {
    dangers.push(
      `The table ${table.title} is UNLOGGED or temporary: a crash of the server empties it. ` +
        'ALTER TABLE … SET LOGGED.',
    );
  }
  return dangers;
}

const MEANINGS: { readonly [synchronousCommit: string]: string | undefined } = {
  on: 'An acknowledged record is on the disk of every synchronous standby.',
  remote_apply: 'An acknowledged record is on the disk of every synchronous standby, and visible.',
  remote_write:
    'An acknowledged record is in the memory of every synchronous standby: it outlives a ' +
    'failover unless the standby loses power at the same time.',
};

function meaningOf(row: Row): string {
  const own = 'An acknowledged record outlives a crash of this server';
  if (row['synchronous_commit'] === 'off') return `${own} only if it is older than a moment.`;
  const remote = MEANINGS[text(row, 'synchronous_commit')];
  if (row['synchronous_standby_names'] !== '' && remote !== undefined) return `${own}. ${remote}`;
  return `${own}. It is lost with this server: a standby that takes over may never have had it.`;
}

function noticesOf(row: Row): string[] {
  if (row['statement_timeout'] !== '0') return [];
  return [
    'statement_timeout is 0: the store bounds its waits for locks, and nothing else on the server.',
  ];
}

const warned = new Set<string>();

function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, { type: 'IdempotencyWarning' });
}

function text(row: Row, column: string): string {
  return row[column] ?? '';
}

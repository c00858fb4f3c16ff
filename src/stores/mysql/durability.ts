import { IdempotencyError } from '../../core/errors.ts';
import { variablesOf } from './connection-facts.ts';
import { textOf } from './record-row.ts';
import type { MySqlSession } from './session.ts';
import { queryOf } from './statement.ts';
import type { Table } from './table.ts';

/** The settings that decide whether an acknowledged record outlives a crash of the server. */
export interface MySqlDurability {
  /** Whether every acknowledged claim and response outlives a crash and a power cut. */
  readonly durable: boolean;
  /** What the settings mean, a sentence each. */
  readonly sentences: readonly string[];
  readonly serverVersion: string;
  readonly engine: string;
  readonly flushLogAtTrxCommit: string;
  readonly logBin: boolean;
  readonly syncBinlog: string;
  readonly doublewrite: string;
  /** Whether a commit waits until a replica has it. */
  readonly semiSync: boolean;
  readonly readOnly: boolean;
  readonly isolation: string;
}

const NAMES = [
  'version',
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'sync_binlog',
  'innodb_doublewrite',
  'innodb_lock_wait_timeout',
  'rpl_semi_sync_master_enabled',
  'rpl_semi_sync_source_enabled',
  'wsrep_on',
  'read_only',
  'innodb_read_only',
  'transaction_read_only',
  'tx_read_only',
  'transaction_isolation',
  'tx_isolation',
] as const;

type Settings = { readonly [name in (typeof NAMES)[number]]?: string | undefined };

const readSettings = (table: Table) =>
  table.statement(
    () => `show variables where Variable_name in (${NAMES.map((name) => `'${name}'`).join(', ')})`,
  );

/** Under a name that no version spells in capitals. */
const readEngine = (table: Table) =>
  table.statement(
    () => `
select engine as engine_name from information_schema.tables
 where table_schema = database() and table_name = '${table.title}'`,
  );

/** Reads the settings, and says what they mean. */
export async function readDurability(
  session: MySqlSession,
  table: Table,
  endMs: number,
): Promise<MySqlDurability> {
  const rows = await session.read(queryOf(readSettings(table)), endMs);
  const settings: Settings = Object.fromEntries(variablesOf({ rows, changed: 0 }));
  const [found] = await session.read(queryOf(readEngine(table)), endMs);
  if (found === undefined) {
    throw new IdempotencyError(
      'store_not_migrated',
      `The table ${table.title} is not there: await store.migrate() before check().`,
    );
  }
  const engine = textOf(found, 'engine_name') ?? '';
  const dangers = dangersIn(settings, engine, table);
  return {
    durable: dangers.length === 0,
    sentences: [...dangers, meaningOf(settings, dangers.length === 0), ...noticesOf(settings)],
    serverVersion: settings.version ?? '',
    engine,
    flushLogAtTrxCommit: settings.innodb_flush_log_at_trx_commit ?? '',
    logBin: isOn(settings.log_bin),
    syncBinlog: settings.sync_binlog ?? '',
    doublewrite: settings.innodb_doublewrite ?? '',
    semiSync: isSemiSync(settings),
    readOnly: READ_ONLY_NAMES.some((name) => isOn(settings[name])),
    isolation: settings.transaction_isolation ?? settings.tx_isolation ?? '',
  };
}

/**
 * @throws {IdempotencyError} `store_read_only`, and `database_unusable` when records can be lost
 *   and that is not accepted.
 */
export function refuseDataLoss(found: MySqlDurability, acceptDataLoss: boolean): void {
  if (found.readOnly) {
    throw new IdempotencyError(
      'store_read_only',
      'This MySQL server takes no writes: it is a replica, or read_only is on, or transactions ' +
        'are read-only by default. Connect to the primary.',
    );
  }
  if (found.durable) return;
  const [danger] = found.sentences;
  if (acceptDataLoss) {
    warnOnce(`MySqlStore: ${danger} This was accepted with acceptDataLoss.`);
    return;
  }
  throw new IdempotencyError(
    'database_unusable',
    `${danger} Change the setting, or accept it with acceptDataLoss: true.`,
  );
}

const READ_ONLY_NAMES = [
  'read_only',
  'innodb_read_only',
  'transaction_read_only',
  'tx_read_only',
] as const;

/** What makes the promise of the store false. */
function dangersIn(settings: Settings, engine: string, table: Table): string[] {
  const { innodb_flush_log_at_trx_commit: flush, sync_binlog, innodb_doublewrite } = settings;
  const dangers: string[] = [];
  if (engine !== 'InnoDB') {
    dangers.push(
      `The table ${table.title} is of the engine ${engine}, which may lose all of it in a ` +
        'crash. ALTER TABLE … ENGINE = InnoDB.',
    );
  }
  if (flush === '0' || flush === '2') {
    const crash = flush === '0' ? 'a crash of the server' : 'a power cut';
    dangers.push(
      `innodb_flush_log_at_trx_commit is ${flush}: ${crash} loses what was acknowledged in the ` +
        'last moments, and those actions run again. Set it to 1.',
    );
  }
  if (isOn(settings.log_bin) && sync_binlog !== '1') {
    dangers.push(
      `sync_binlog is ${sync_binlog}: after a power cut InnoDB rolls back what is missing in the ` +
        'binary log, acknowledged or not. Set it to 1.',
    );
  }
  if (/^(OFF|0|DETECT_ONLY)$/.test(innodb_doublewrite ?? '')) {
    dangers.push('innodb_doublewrite is off: a power cut in the middle of a write corrupts pages.');
  }
  return dangers;
}

function meaningOf(settings: Settings, isDurable: boolean): string {
  const own = 'An acknowledged record outlives a crash of this server';
  if (!isDurable) return `${own} only if it is older than a moment.`;
  if (isSemiSync(settings)) {
    return (
      `${own}. A commit waits until a replica has received it, but no longer than the time-out ` +
      'of semi-synchronous replication: after that it is acknowledged all the same.'
    );
  }
  return `${own}. It is lost with this server: a replica that takes over may never have had it.`;
}

function noticesOf(settings: Settings): string[] {
  const { version = '', innodb_lock_wait_timeout: waitS } = settings;
  const notices: string[] = [];
  if (!/mariadb/i.test(version) && Number(waitS) > LONG_WAIT_S) {
    notices.push(
      `innodb_lock_wait_timeout is ${waitS} seconds: so long a write that was given up may still ` +
        'wait for a lock on the server, and be applied then.',
    );
  }
  if (isOn(settings.wsrep_on)) {
    notices.push('This is a node of a Galera cluster, on which the store was not tried.');
  }
  return notices;
}

/** MySQL limits no write for a single statement. */
const LONG_WAIT_S = 10;

function isSemiSync(settings: Settings): boolean {
  return isOn(settings.rpl_semi_sync_master_enabled) || isOn(settings.rpl_semi_sync_source_enabled);
}

function isOn(value: string | undefined): boolean {
  return /^(ON|1)$/i.test(value ?? '');
}

const warned = new Set<string>();

function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, { type: 'IdempotencyWarning' });
}

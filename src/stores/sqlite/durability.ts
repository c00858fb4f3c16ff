import { IdempotencyError } from '../../core/errors.ts';
import type { SqliteConnection } from './handle.ts';

/**
 * How long SQLite itself may wait for a lock. Nothing else of the process runs meanwhile, so the
 * rest of the wait is done by coming back later.
 */
export const BUSY_WAIT_MS = 20;

/** With less an acknowledged commit may roll back at a power cut; 3 is EXTRA. */
const SYNCHRONOUS_FULL = 2;

/**
 * Makes COMMIT mean that the disk has it, and reads back whether it does. On every open: WAL mode
 * is kept in the file, `synchronous` is not, and better-sqlite3 opens a WAL file with NORMAL.
 *
 * @throws {IdempotencyError} `database_unusable` when the database cannot promise that.
 */
export function makeDurable(connection: SqliteConnection, database: string): void {
  const mode = connection.get('PRAGMA journal_mode = WAL')?.['journal_mode'];
  if (mode !== 'wal') {
    const why =
      mode === 'memory'
        ? 'is in memory and forgets. Use MemoryStore for that, or give a file'
        : `does not go into WAL mode (it stays in ${mode}). Put the file on a local disk`;
    throw new IdempotencyError('database_unusable', `${database} ${why}.`);
  }
  // Set even where it reads FULL: a default is lowered by better-sqlite3 once the WAL is in use.
  const level = Math.max(synchronousOf(connection), SYNCHRONOUS_FULL);
  connection.exec(`PRAGMA synchronous = ${level}`);
  // On macOS a plain fsync leaves the data in the drive's cache; elsewhere this means nothing.
  connection.exec('PRAGMA fullfsync = ON');
  connection.exec('PRAGMA checkpoint_fullfsync = ON');
  if (synchronousOf(connection) < SYNCHRONOUS_FULL) {
    throw new IdempotencyError(
      'database_unusable',
      `${database} does not take PRAGMA synchronous = FULL, and would lose records at a power cut.`,
    );
  }
}

/** The settings that decide what is left after a power cut. */
export interface SqliteDurability {
  /** Whether every acknowledged record outlives a power cut. */
  readonly durable: boolean;
  /** What the settings mean, a sentence each. */
  readonly sentences: readonly string[];
  readonly journalMode: string;
  readonly synchronous: number;
}

export function readDurability(connection: SqliteConnection): SqliteDurability {
  const journalMode = String(connection.get('PRAGMA journal_mode')?.['journal_mode']);
  const synchronous = synchronousOf(connection);
  const durable = journalMode === 'wal' && synchronous >= SYNCHRONOUS_FULL;
  const sentence = durable
    ? 'Every acknowledged record is on the disk: it outlives a crash and a power cut.'
    : 'Acknowledged records may be lost at a power cut, and their actions run again: ' +
      'journal_mode must be wal and synchronous at least FULL (2).';
  return { durable, sentences: [sentence], journalMode, synchronous };
}

function synchronousOf(connection: SqliteConnection): number {
  return Number(connection.get('PRAGMA synchronous')?.['synchronous']);
}

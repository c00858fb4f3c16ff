import { unlessBusy } from './unless-busy.ts';

/** The part of a `DatabaseSync` of node:sqlite and a `Database` of better-sqlite3 used here. */
export interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

export interface SqliteStatement {
  run(...values: readonly (string | number)[]): { readonly lastInsertRowid: number | bigint };
  get(...values: readonly (string | number)[]): unknown;
}

/** Opens a database with the driver of this Node or, where it has none, with better-sqlite3. */
export async function openSqlite(path: string): Promise<SqliteHandle> {
  const builtin = process.getBuiltinModule('node:sqlite');
  const handle = builtin ? new builtin.DatabaseSync(path) : await openBetterSqlite(path);
  try {
    handle.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
    // Another process may be making the file, and has it locked.
    await unlessBusy(() => makeDurable(handle), isBusy);
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}

/** With less, what was acknowledged could be gone after a power failure. */
function makeDurable(handle: SqliteHandle): void {
  handle.exec('PRAGMA journal_mode = WAL');
  handle.exec('PRAGMA synchronous = FULL');
}

/** Whether another connection was writing. Nothing was done, and it can be tried again. */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  // node:sqlite gives SQLite's number, whose low byte is the primary code; better-sqlite3 its name.
  if (typeof errcode === 'number') return (errcode & 0xff) === SQLITE_BUSY;
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}

const SQLITE_BUSY = 5;
/** SQLite waits for another process by blocking this one: not for long. */
const BLOCKING_WAIT_MS = 20;

async function openBetterSqlite(path: string): Promise<SqliteHandle> {
  // The name is no literal, so that neither the compiler nor a bundler asks for the package.
  const name = 'better-sqlite3';
  const { default: Database } = await import(name);
  return new Database(path);
}

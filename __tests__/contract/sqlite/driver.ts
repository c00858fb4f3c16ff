import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SqliteHandle } from '../../../src/stores/sqlite/index.ts';

/** A driver, and how to open a file with it as its user would. */
export interface SqliteDriver {
  readonly name: string;
  open(path: string, options?: { readonly readOnly: boolean }): SqliteHandle;
}

/** Drivers that the root's `npm ci` leaves out. */
export const DRIVERS: string = join(__dirname, '../../databases');

/** The driver of this name, in a test or in a process of its own; `undefined` if it is not here. */
export function sqliteDriver(name: string): SqliteDriver | undefined {
  if (name !== 'node:sqlite') return betterSqlite3(name);
  const sqlite = process.getBuiltinModule('node:sqlite');
  return (
    sqlite && {
      name,
      open: (path, options = { readOnly: false }) => new sqlite.DatabaseSync(path, options),
    }
  );
}

type BetterSqlite3 = new (path: string, options: { readonly readonly: boolean }) => SqliteHandle;

/** `name` is its alias: `better-sqlite3-12` or `better-sqlite3-13`. */
function betterSqlite3(name: string): SqliteDriver | undefined {
  let Database: BetterSqlite3;
  try {
    Database = createRequire(join(DRIVERS, 'package.json'))(name);
  } catch {
    return undefined;
  }
  return {
    name,
    open: (path, options = { readOnly: false }) =>
      new Database(path, { readonly: options.readOnly }),
  };
}

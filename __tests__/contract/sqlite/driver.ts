import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SqliteHandle } from '../../../src/stores/sqlite/index.ts';

/** How a user may open a file: node:sqlite takes these names, and better-sqlite3 others. */
export interface OpenOptions {
  readonly readOnly?: boolean;
  /** Whether integers are read as bigints; node:sqlite then also gives rows as arrays. */
  readonly bigInts?: boolean;
}

/** A driver, and how to open a file with it as its user would. */
export interface SqliteDriver {
  readonly name: string;
  open(path: string, options?: OpenOptions): SqliteHandle;
}

/** Drivers that the root's `npm ci` leaves out. */
export const DRIVERS: string = join(__dirname, '../../databases');

/** The driver of this name, in a test or in a process of its own; `undefined` if it is not here. */
export function sqliteDriver(name: string): SqliteDriver | undefined {
  if (name !== 'node:sqlite') return betterSqlite3(name);
  const sqlite = process.getBuiltinModule('node:sqlite');
  if (sqlite === undefined) return undefined;
  const open = (path: string, { readOnly = false, bigInts = false }: OpenOptions = {}) =>
    new sqlite.DatabaseSync(path, { readOnly, readBigInts: bigInts, returnArrays: bigInts });
  return { name, open };
}

interface BetterSqlite3Handle extends SqliteHandle {
  defaultSafeIntegers(enabled: boolean): void;
}

type BetterSqlite3 = new (path: string, options: { readonly: boolean }) => BetterSqlite3Handle;

/** `name` is its alias: `better-sqlite3-12` or `better-sqlite3-13`. */
function betterSqlite3(name: string): SqliteDriver | undefined {
  let Database: BetterSqlite3;
  try {
    Database = createRequire(join(DRIVERS, 'package.json'))(name);
  } catch {
    return undefined;
  }
  const open = (path: string, { readOnly = false, bigInts = false }: OpenOptions = {}) => {
    const handle = new Database(path, { readonly: readOnly });
    handle.defaultSafeIntegers(bigInts);
    return handle;
  };
  return { name, open };
}

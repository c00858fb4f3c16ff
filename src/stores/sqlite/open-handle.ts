import { statSync } from 'node:fs';
import { IdempotencyError } from '../../core/errors.ts';
import type { SqliteHandle } from './handle.ts';

type Constructor = new (path: string) => SqliteHandle;

/**
 * Opens a file with node:sqlite where this Node has it, else with better-sqlite3 where that is
 * installed. Drivers are loaded here, at the first call, and never by an import of this package.
 *
 * @throws {IdempotencyError} `driver_missing`, `database_unusable` of a directory; and what the
 *   driver throws.
 */
export async function openHandle(path: string): Promise<SqliteHandle> {
  const Driver = nodeSqlite() ?? (await betterSqlite3());
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw directory(path);
  try {
    return new Driver(path);
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: unknown };
    // Its native part is loaded by the first constructor, and is bound to one version of Node.
    if (code !== 'ERR_DLOPEN_FAILED' && !/bindings file/.test(message)) throw error;
    throw missing('better-sqlite3 is installed, but its native part does not load', error);
  }
}

function nodeSqlite(): Constructor | undefined {
  const module: { readonly DatabaseSync?: Constructor } | undefined =
    process.getBuiltinModule('node:sqlite');
  return module?.DatabaseSync;
}

async function betterSqlite3(): Promise<Constructor> {
  // A name that bundlers and compilers do not follow: the package is there or it is not.
  const name: string = 'better-sqlite3';
  try {
    const module: { readonly default: Constructor } = await import(name);
    return module.default;
  } catch (cause) {
    const { node } = process.versions;
    throw missing(`Node ${node} has no node:sqlite and better-sqlite3 does not load`, cause);
  }
}

function directory(path: string): IdempotencyError {
  return new IdempotencyError(
    'database_unusable',
    `The SQLite file ${path} is a directory. Give the path of a file in it.`,
  );
}

function missing(what: string, cause: unknown): IdempotencyError {
  const mend =
    'Run `npm install better-sqlite3` (`npm rebuild` after a change of Node), ' +
    'or use Node 22.13 or newer.';
  return new IdempotencyError('driver_missing', `No SQLite driver: ${what}. ${mend}`, { cause });
}

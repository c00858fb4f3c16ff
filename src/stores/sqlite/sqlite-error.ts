import { IdempotencyError, RecordTooLargeError } from '../../core/errors.ts';

/** SQLite's primary result codes, as far as they are told apart here. */
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_TOOBIG = 18;
const SQLITE_NOTADB = 26;

const BY_NAME: { readonly [name: string]: number | undefined } = {
  SQLITE_ERROR,
  SQLITE_BUSY,
  SQLITE_LOCKED,
  SQLITE_READONLY,
  SQLITE_IOERR,
  SQLITE_CORRUPT,
  SQLITE_FULL,
  SQLITE_CANTOPEN,
  SQLITE_TOOBIG,
  SQLITE_NOTADB,
};

const CANNOT_OPEN =
  'cannot be opened. Its directory must exist, and this process must have the right to write it.';

/** Why a database is of no use, and how to mend it. */
const UNUSABLE: { readonly [code: number]: string | undefined } = {
  [SQLITE_READONLY]:
    'may not be written. Give this process the right to write the file and its directory.',
  [SQLITE_IOERR]: 'could not be read or written. Look at the disk.',
  [SQLITE_CORRUPT]: 'is damaged. Restore it from a backup, or repair it with the sqlite3 program.',
  [SQLITE_FULL]: 'has no room left. Free some space on its disk.',
  [SQLITE_CANTOPEN]: CANNOT_OPEN,
  [SQLITE_NOTADB]: 'is not an SQLite database. Give another path, or move that file away.',
};

/** Whether another connection holds the lock: nothing was applied, and later it may be. */
export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

/** What a driver threw, as an error of this package. `database` names it: "The SQLite file x". */
export function toIdempotencyError(error: unknown, database: string): Error {
  if (error instanceof IdempotencyError) return error;
  const { name, message, code } = error as Error & { readonly code?: unknown };
  const resultCode = resultCodeOf(error);
  const unusable = resultCode === undefined ? undefined : UNUSABLE[resultCode];
  const options = { cause: error };
  if (unusable !== undefined) {
    return new IdempotencyError('database_unusable', `${database} ${unusable}`, options);
  }
  // better-sqlite3 looks for the directory itself, before SQLite does.
  if (/directory does not exist/.test(message)) {
    return new IdempotencyError('database_unusable', `${database} ${CANNOT_OPEN}`, options);
  }
  // better-sqlite3 refuses to bind what is too big before SQLite sees it.
  if (resultCode === SQLITE_TOOBIG || name === 'RangeError') {
    const tooBig = `${database} takes no value or row as big as this response.`;
    return new RecordTooLargeError(tooBig, options);
  }
  if (isBusy(error)) return busy(`${database} is locked by another transaction.`, options);
  if (resultCode === SQLITE_ERROR && message.startsWith('no such table')) {
    return notMigrated(`${database} has no tables of this store`, options);
  }
  if (code === 'ERR_INVALID_STATE' || /not open/.test(message)) {
    return new IdempotencyError(
      'store_closed',
      `The handle of ${lowerFirst(database)} was closed under the store. Close the store first.`,
      options,
    );
  }
  // better-sqlite3 refuses everything while an iterator of the user's is open on the handle.
  if (/busy executing/.test(message)) {
    return busy(`Something else is running on the handle of ${lowerFirst(database)}.`, options);
  }
  return new IdempotencyError(
    'database_unusable',
    `${database} answered with an error: ${message}.`,
    options,
  );
}

export function busy(message: string, options?: { readonly cause?: unknown }): IdempotencyError {
  return new IdempotencyError('store_busy', message, options);
}

/** `what` is the first half of a sentence. */
export function notMigrated(
  what: string,
  options?: { readonly cause?: unknown },
): IdempotencyError {
  const mend = 'Call `await store.migrate()` before the first request.';
  return new IdempotencyError('store_not_migrated', `${what}. ${mend}`, options);
}

/**
 * node:sqlite gives the (extended) number, better-sqlite3 its name. The primary code is the lowest
 * byte of the number, and the first two words of the name.
 */
function resultCodeOf(error: unknown): number | undefined {
  const { errcode, code } = (error ?? {}) as {
    readonly errcode?: unknown;
    readonly code?: unknown;
  };
  if (typeof errcode === 'number') return errcode & 0xff;
  if (typeof code !== 'string') return undefined;
  return BY_NAME[code.split('_').slice(0, 2).join('_')];
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

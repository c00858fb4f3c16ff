import { type ErrorCode, IdempotencyError, RecordTooLargeError } from '../../core/errors.ts';

/** What a driver rejects with when not one byte of the statement has been sent. */
export class NotSent extends Error {
  override get name(): string {
    return 'NotSent';
  }
}

/** The statement was sent, and nobody knows what became of it. */
export class GivenUp extends Error {
  override get name(): string {
    return 'GivenUp';
  }
}

/** The server takes no statement as long as this one would be; nothing was sent. */
export class TooLong extends Error {
  override get name(): string {
    return 'TooLong';
  }
}

/** The connection is of no use as its owner has left it; nothing that was sent is kept. */
export class Unusable extends Error {
  override get name(): string {
    return 'Unusable';
  }
}

/** The number that the server gave to its refusal; `undefined` when no server has said anything. */
export function numberOf(error: unknown): number | undefined {
  const { errno, sqlState } = (error ?? {}) as Refusal;
  return typeof errno === 'number' && typeof sqlState === 'string' ? errno : undefined;
}

/** A record with this key is there. */
export function saysThatItIsThere(error: unknown): boolean {
  return numberOf(error) === 1062;
}

export function saysThatTableIsMissing(error: unknown): boolean {
  return numberOf(error) === 1146;
}

/** Rolled back by the server because of others: the same statement may do the next time. */
export function isConflictOfOthers(error: unknown): boolean {
  return CONFLICTS.has(numberOf(error));
}

/**
 * Whether the server has refused a statement of many records for what one of them may have caused,
 * and has rolled all of it back: each by itself tells which.
 */
export function mayConcernOneRecord(error: unknown): boolean {
  if (isNamed(error, 'TooLong')) return true;
  const number = numberOf(error);
  if (number === undefined) return false;
  return CAUSED_BY_VALUES.has(number) || /^(2[123]|40)/.test(stateOf(error));
}

/** Whether the connection has nothing left to say: it must not go back into a pool. */
export function endsConnection(error: unknown): boolean {
  if (isNamed(error, 'TooLong')) return false;
  const number = numberOf(error);
  // After a failover the address may lead elsewhere: a connection to a replica is given up.
  return number === undefined || /^08/.test(stateOf(error)) || READ_ONLY.has(number);
}

/** What a driver threw, as an error of this package. No value of a statement is in it. */
export function toIdempotencyError(error: unknown, table: string): IdempotencyError {
  if (error instanceof IdempotencyError) return error;
  const options = { cause: causeWithoutValues(error) };
  if (isNamed(error, 'NotSent')) {
    return new IdempotencyError(
      'store_no_connection',
      `No connection to MySQL was to be had: ${error.message}. Nothing was sent.`,
      options,
    );
  }
  if (isNamed(error, 'GivenUp')) {
    return new IdempotencyError('store_timeout', error.message, options);
  }
  if (isNamed(error, 'Unusable')) {
    return new IdempotencyError('database_unusable', error.message, options);
  }
  const number = numberOf(error);
  if (isNamed(error, 'TooLong') || TOO_LARGE.has(number)) {
    return new RecordTooLargeError('The MySQL server takes no statement as long as this.', options);
  }
  const [, code, sentence] = SENTENCES.find(([numbers]) => numbers.has(number)) ?? [];
  if (code !== undefined && sentence !== undefined) {
    return new IdempotencyError(code, sentence.replace('%', table), options);
  }
  const why = number === undefined ? 'did not answer' : `refused the statement (error ${number})`;
  return new IdempotencyError(
    'store_failed',
    `MySQL ${why}. Whether the call was applied is not known. Look at the cause.`,
    options,
  );
}

interface Refusal {
  readonly errno?: unknown;
  readonly sqlState?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly name?: unknown;
}

/** By its name: two copies of this package, or two realms, have two classes of one name. */
function isNamed(error: unknown, name: string): error is Error {
  return (error as Partial<Error> | null)?.name === name;
}

function stateOf(error: unknown): string {
  return String((error as Refusal | null)?.sqlState);
}

type Numbers = ReadonlySet<number | undefined>;

/** A wait for a lock that was too long, a deadlock, a row that has changed since it was read. */
const CONFLICTS: Numbers = new Set([1205, 1213, 1020]);
const READ_ONLY: Numbers = new Set([1290, 1792, 1836]);
const TOO_LARGE: Numbers = new Set([139, 1118, 1153]);
/** Values, constraints, limits and time-outs that have no SQLSTATE of their own. */
const CAUSED_BY_VALUES: Numbers = new Set([
  ...[...CONFLICTS, ...TOO_LARGE],
  ...[1317, 1366, 1969, 3024, 3819, 4025],
]);

const SENTENCES: readonly (readonly [numbers: Numbers, code: ErrorCode, sentence: string])[] = [
  [
    new Set([1146, 1054]),
    'store_not_migrated',
    'The table % is not there, or is of another version: await store.migrate() once before the ' +
      'first request, or run the SQL of mysqlMigrations().',
  ],
  [
    READ_ONLY,
    'store_read_only',
    'This MySQL server takes no writes: it is a replica, or read_only is on. Connect to the ' +
      'primary.',
  ],
  [
    CONFLICTS,
    'store_busy',
    'Other transactions were in the way for as long as the call had, and nothing was applied.',
  ],
  [
    new Set([1317, 1969, 3024]),
    'store_timeout',
    'MySQL ended the statement when its time was over. Whether it was applied is not known.',
  ],
  [
    new Set([1243, 1295, 1461]),
    'database_unusable',
    'A statement could not be prepared, or was gone: a proxy is between, or the server has too ' +
      'many (max_prepared_stmt_count). Give MySqlStore the option prepare: false.',
  ],
  [
    new Set([1044, 1142, 1143]),
    'database_unusable',
    'The user may not use the table %: grant SELECT, INSERT, UPDATE and DELETE on it.',
  ],
  [new Set([1046]), 'database_unusable', 'The pool names no database: give it the one to use.'],
  [new Set([1021, 1114]), 'database_unusable', 'The disk of the MySQL server is full.'],
];

/**
 * The message of a refusal quotes values, and drivers attach the statement: the number is kept, and
 * the message only where it says nothing about what was sent.
 */
function causeWithoutValues(error: unknown): Error {
  const { code, message, name, sqlState } = (error ?? {}) as Refusal;
  const number = numberOf(error);
  const isAboutServer = number === undefined || SENTENCES.some(([numbers]) => numbers.has(number));
  const says = isAboutServer ? String(message ?? error) : `Error ${number} (${sqlState})`;
  const cause = new Error(says);
  if (typeof name === 'string') cause.name = name;
  const known = typeof code === 'string' ? code : undefined;
  return Object.assign(cause, {
    ...(known === undefined ? {} : { code: known }),
    ...(number === undefined ? {} : { errno: number }),
  });
}

import { IdempotencyError, RecordTooLargeError } from '../../core/errors.ts';

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

/** The SQLSTATE of what a driver threw; `undefined` when no server has said anything. */
function sqlStateOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && SQL_STATE.test(code) ? code : undefined;
}

/** Rolled back by the server because of others: the same statement may do the next time. */
export function isConflictOfOthers(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === '40001' || state === '40P01';
}

/** Whether what was to be made is there already: in DDL the loser of a race learns it so. */
export function saysThatOtherWasFirst(error: unknown): boolean {
  return /^(23505|42P06|42P07|42710)$/.test(sqlStateOf(error) ?? '');
}

/**
 * Whether the server has refused a statement of many records for what one of them may have caused,
 * and has rolled all of it back: each by itself tells which.
 */
export function mayConcernOneRecord(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && CAUSED_BY_VALUES.test(state);
}

/** Whether the connection has nothing left to say: it must not go back into a pool. */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || /^(08|57P|58|XX)/.test(state);
}

/** What a driver threw, as an error of this package. No value of a statement is in it. */
export function toIdempotencyError(error: unknown, table: string): IdempotencyError {
  if (error instanceof IdempotencyError) return error;
  const options = { cause: causeWithoutValues(error) };
  if (isNamed(error, 'NotSent')) {
    return new IdempotencyError(
      'store_no_connection',
      `No connection to PostgreSQL was to be had: ${error.message}. Nothing was sent.`,
      options,
    );
  }
  if (isNamed(error, 'GivenUp')) {
    return new IdempotencyError('store_timeout', error.message, options);
  }
  const state = sqlStateOf(error);
  if (state !== undefined && TOO_LARGE.has(state)) {
    return new RecordTooLargeError('PostgreSQL takes no value as big as this response.', options);
  }
  const [, code, sentence] = SENTENCES.find(([states]) => states.test(state ?? '')) ?? [];
  if (code !== undefined && sentence !== undefined) {
    return new IdempotencyError(code, sentence.replace('%', table), options);
  }
  const why = state === undefined ? 'did not answer' : `refused the statement (SQLSTATE ${state})`;
  return new IdempotencyError(
    'store_failed',
    `PostgreSQL ${why}. Whether the call was applied is not known. Look at the cause.`,
    options,
  );
}

/** By its name: two copies of this package, or two realms, have two classes of one name. */
function isNamed(error: unknown, name: 'NotSent' | 'GivenUp'): error is Error {
  return (error as Partial<Error> | null)?.name === name;
}

/** None begins with E; codes of the system do: EPIPE. */
const SQL_STATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;
/** Data, constraints, conflicts, limits, locks, cancellation. */
const CAUSED_BY_VALUES = /^(2[123]|40|54|55P03|57014)/;
const TOO_LARGE: ReadonlySet<string> = new Set(['54000', '54P01']);

type ErrorSentence = readonly [
  states: RegExp,
  code:
    | 'store_not_migrated'
    | 'store_read_only'
    | 'store_busy'
    | 'database_unusable'
    | 'transaction_aborted',
  sentence: string,
];

const SENTENCES: readonly ErrorSentence[] = [
  [
    /^(42P01|3F000|42703)$/,
    'store_not_migrated',
    'The table % is not there, or is of another version: await store.migrate() once before the ' +
      'first request, or run the SQL of postgresMigrations().',
  ],
  [
    /^25006$/,
    'store_read_only',
    'This PostgreSQL server takes no writes: it is a standby, or default_transaction_read_only ' +
      'is on. Connect to the primary (target_session_attrs=read-write).',
  ],
  [
    /^(55P03|40001|40P01|57014)$/,
    'store_busy',
    'Other transactions were in the way for as long as the call had, and nothing was applied.',
  ],
  [
    /^(26000|42P05)$/,
    'database_unusable',
    'A prepared statement was gone: a pooler in transaction mode is between. Give PostgresStore ' +
      'the option prepare: false (and postgres.js the same), or a pooler that keeps them.',
  ],
  [
    /^42501$/,
    'database_unusable',
    'The role may not use the table %: grant it SELECT, INSERT, UPDATE and DELETE.',
  ],
  [
    /^25P02$/,
    'transaction_aborted',
    'A statement of the transaction had failed, and its error was not passed on: PostgreSQL ' +
      'keeps nothing of the transaction. Let errors of statements pass, or use savepoints.',
  ],
  [/^53100$/, 'database_unusable', 'The disk of the PostgreSQL server is full.'],
];

/**
 * The detail and the context of a PostgreSQL error quote values, and drivers attach parameters:
 * only code and message are kept, and of errors about values only the code.
 */
function causeWithoutValues(error: unknown): Error {
  const { code, message, name } = (error ?? {}) as {
    readonly [field in 'code' | 'message' | 'name']?: unknown;
  };
  const state = sqlStateOf(error);
  const says = state?.startsWith('22') ? `SQLSTATE ${state}` : String(message ?? error);
  const cause = new Error(says);
  if (typeof name === 'string') cause.name = name;
  return typeof code === 'string' ? Object.assign(cause, { code }) : cause;
}

const BRAND = Symbol.for('express-idempotent.error');

/** Every error of this package, with one sentence each; docs/errors.md has a section a code. */
export const ERROR_CODES = {
  option_invalid: 'An option is unknown, or is not what it must be.',
  store_invalid: 'The first argument is not a store.',
  nested: 'The request meets a second idempotency middleware on its way.',
  answer_begun: 'Other middleware has begun the answer before the idempotency middleware.',
  not_an_error: 'Something threw a value that Express does not take for an error.',
  key_unusable: 'The `key` option answered something that is neither a string nor undefined.',
  tenant_unusable: 'The `tenant` option threw, or answered no usable name.',
  operation_unusable: 'The `operation` option answered no usable name.',
  fingerprint_unusable: 'The `fingerprint` option answered no usable string.',
  body_not_read: 'The request has a body that nothing has read before the middleware.',
  body_not_usable: 'The request body holds a value that has no fingerprint.',
  admit_invalid: 'The `admit` option answered something other than 0, 429 or 503.',
  transaction_over: 'There is no open transaction, or it has ended.',
  transaction_end_refused: 'A handler tried to end the transaction that it was given.',
  transaction_aborted: 'The database gave the transaction up, and kept nothing of it.',
  response_too_large: 'A response over `maxResponseBytes` in a transaction, which was rolled back.',
  commit_not_synchronous: 'The function given to `commitSync` answered a promise.',
  commit_unclear: 'The database did not say whether it committed.',
  recovery_unsupported: 'The store cannot serve the recovery mode that was asked for.',
  already_answered: 'The outcome of this attempt is settled already.',
  store_answer_invalid: 'The store answered something that a store may not answer.',
  store_timeout: 'The store did not answer in time.',
  store_full: 'The store holds as many records as it may, and evicts none.',
  store_busy: 'Other transactions were in the way for as long as the call had.',
  store_no_connection: 'No connection to the backend was to be had; nothing was sent.',
  store_read_only: 'The backend takes no writes: a replica, or a setting.',
  store_not_replicated: 'A write did not reach as many replicas as was asked for.',
  store_failed: 'The backend refused the call, or its answer was lost.',
  store_not_migrated: 'The tables of the store do not exist, or are of another version.',
  store_closed: 'The store was used after it had been closed.',
  driver_missing: 'No SQLite driver is there.',
  database_unusable: 'The database cannot be opened, or cannot keep what it is asked to keep.',
  response_invalid: 'A response that was given in words is none that HTTP can carry.',
  capability_missing: 'The store does not offer what was asked of it.',
  reference_ambiguous: 'The reference of a record is the beginning of several.',
  record_corrupt: 'A saved record cannot be read.',
  record_too_large: 'The backend can never take so large a response.',
  fenced: 'The record is absent, or another attempt owns it now.',
} as const;

/** The code of an error of this package: a name of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * An error of this package. Its message says what was expected, what came and how to mend it,
 * and never holds a key, a body or a header value. `instanceof` also holds for errors of another
 * copy of the package (ESM beside CommonJS).
 */
export class IdempotencyError extends Error {
  readonly code: ErrorCode;
  /** The status that Express's own error handler answers with. */
  readonly status = 500;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }

  override get name(): string {
    return 'IdempotencyError';
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // Classes of users inherit this, and not every error of ours is one of theirs.
    // biome-ignore lint/complexity/noThisInStatic: it is the class on the right of instanceof
    if (this !== IdempotencyError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

Object.defineProperty(IdempotencyError.prototype, BRAND, { value: true });

/** What `complete` rejects with when this attempt does not own the record, or no longer does. */
export class FencedError extends IdempotencyError {
  constructor(options?: { readonly cause?: unknown }) {
    super('fenced', 'The record is absent, or another attempt owns it now.', options);
  }

  override get name(): string {
    return 'FencedError';
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof IdempotencyError && value.code === 'fenced';
  }
}

/** What `complete` rejects with when the backend can never take so large a response. */
export class RecordTooLargeError extends IdempotencyError {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('record_too_large', message, options);
  }

  override get name(): string {
    return 'RecordTooLargeError';
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof IdempotencyError && value.code === 'record_too_large';
  }
}

/** Codes of rejections that prove that the backend did not, and will not, apply the call. */
const NOTHING_APPLIED: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode>([
  'store_full',
  'store_busy',
  'store_no_connection',
  'store_read_only',
  'store_not_migrated',
  'store_closed',
  'record_corrupt',
]);

/** Whether a claim that rejected with `code` can be forgotten, with nothing to release. */
export function provesNothingApplied(code: ErrorCode | undefined): boolean {
  return NOTHING_APPLIED.has(code);
}

/** What is thrown at a handler that names a second outcome. */
export function alreadyAnswered(): IdempotencyError {
  return new IdempotencyError(
    'already_answered',
    'Expected an attempt without an answer, got one that was begun or settled before. ' +
      'Settle once, in place of res.json.',
  );
}

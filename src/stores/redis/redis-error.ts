import { IdempotencyError, RecordTooLargeError } from '../../core/errors.ts';

/**
 * The word that an error of the server begins with, such as `NOSCRIPT`; `undefined` when no server
 * has said anything.
 */
export function errorWordOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('message' in error)) return undefined;
  return /^([A-Z]{2,}) /.exec(String(error.message))?.[1];
}

/** What a driver threw, as an error of this package. No argument of a command is in it. */
export function toIdempotencyError(error: unknown, verb: string): IdempotencyError {
  if (error instanceof IdempotencyError) return error;
  const options = { cause: causeWithoutArguments(error) };
  if (isNotSent(error)) {
    const message = `${verb}: the Redis client is not connected. Nothing was sent.`;
    return new IdempotencyError('store_no_connection', message, options);
  }
  const word = errorWordOf(error);
  const known = word === undefined ? undefined : SENTENCES[word];
  if (known !== undefined) return new IdempotencyError(known[0], `${verb}: ${known[1]}`, options);
  const why = word === undefined ? 'did not answer' : `refused the call (${word})`;
  return new IdempotencyError(
    'store_failed',
    `${verb}: Redis ${why}. Whether the call was applied is not known. Look at the cause.`,
    options,
  );
}

/** The most that Redis takes as one value, unless it is told otherwise. */
const VALUE_MAX_BYTES = 512 * 1024 * 1024;

/** @throws {RecordTooLargeError} */
export function refuseTooLarge(body: Uint8Array): void {
  if (body.byteLength <= VALUE_MAX_BYTES) return;
  throw new RecordTooLargeError(`Redis takes no value of more than ${VALUE_MAX_BYTES} bytes.`);
}

type Sentence = readonly [
  code:
    | 'record_corrupt'
    | 'store_read_only'
    | 'store_full'
    | 'store_busy'
    | 'store_not_replicated'
    | 'store_failed',
  sentence: string,
];

/** Each of these is said before a script runs. */
const SENTENCES: { readonly [word: string]: Sentence | undefined } = {
  READONLY: [
    'store_read_only',
    'this Redis server is a replica and takes no writes. Connect to the primary.',
  ],
  OOM: [
    'store_full',
    'Redis has no memory left (maxmemory) and evicts nothing, as it must be. New keys are ' +
      'refused; results of those that are there are still saved. Give it more memory.',
  ],
  WRONGTYPE: ['record_corrupt', 'the key of a record holds what something else wrote to it.'],
  BUSY: ['store_busy', 'Redis is busy with a script of somebody else.'],
  LOADING: ['store_busy', 'Redis is still loading its data.'],
  NOREPLICAS: [
    'store_not_replicated',
    'Redis has fewer good replicas than min-replicas-to-write asks for, and takes no writes.',
  ],
  NOPERM: [
    'store_failed',
    'the Redis user may not run this. docs/stores/redis.md names the commands that it needs.',
  ],
  CROSSSLOT: ['store_failed', 'the keys of one record are not in one hash slot.'],
};

/** What drivers throw when a command has not been written to any connection, and never will be. */
function isNotSent(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { message } = error as { readonly message?: unknown };
  return (
    NOT_SENT.has(error.constructor?.name) ||
    String(message).startsWith("Stream isn't writeable and enableOfflineQueue")
  );
}

const NOT_SENT: ReadonlySet<string> = new Set(['ClientClosedError', 'ClientOfflineError']);

/** Drivers attach the command with its arguments, and Redis quotes those of an unknown command. */
function causeWithoutArguments(error: unknown): Error {
  const { code, message, name } = (error ?? {}) as {
    readonly [field in 'code' | 'message' | 'name']?: unknown;
  };
  const said = String(message ?? error).replace(/, with args beginning with:.*$/s, '');
  const cause = new Error(said);
  if (typeof name === 'string') cause.name = name;
  return typeof code === 'string' ? Object.assign(cause, { code }) : cause;
}

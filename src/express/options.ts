import type { Request } from 'express';
import type { AttemptSettings } from '../core/attempt-settings.ts';
import { IdempotencyError } from '../core/errors.ts';
import {
  A_BOOLEAN,
  A_FUNCTION,
  checkOptions,
  invalidOption,
  kindOf,
  milliseconds,
  type OptionRule,
  wholeNumber,
} from '../core/option-check.ts';
import { isRecordName } from '../core/record-key.ts';
import { blind, type Recovery } from '../core/recovery.ts';
import { checkRecovery } from '../core/recovery-support.ts';
import { isHeaderName } from '../core/sendable.ts';
import type { Attempt, IdempotencyStore } from '../core/store.ts';
import { claimWarning } from './claim-warning.ts';
import { NODE_RUNTIME } from './node-runtime.ts';

type MaybePromise<T> = T | PromiseLike<T>;

/** Everything is optional; what is not given has the default named. docs/options.md says more. */
export interface IdempotencyOptions {
  /**
   * The digest of what is asked: two requests under one key are the same request when it is equal.
   * It takes over all of the comparison: method, URL and body count only as far as it reads them.
   *
   * @default method, full URL, media type and body
   */
  readonly fingerprint?: (req: Request) => MaybePromise<string>;
  /**
   * The last word before the action, asked once per attempt under a reservation. `0` lets the
   * handler run; 429 and 503 refuse: the key is given back, and the client is told to come again.
   *
   * @default everybody is admitted
   */
  readonly admit?: (context: Attempt) => MaybePromise<0 | 429 | 503>;
  /**
   * The header that carries the key, or a function that answers it (`undefined` when there is
   * none). What it answers has the form of the header, but up to 4,096 characters.
   *
   * @default 'Idempotency-Key'
   */
  readonly key?: string | ((req: Request) => MaybePromise<string | undefined>);
  /**
   * Whose key it is. Without it all callers share one name space, and whoever sends the key and
   * the body of another is given that one's response.
   *
   * @default one name space
   */
  readonly tenant?: (req: Request) => MaybePromise<string>;
  /**
   * The name of what is asked, part of the record key. `false` when the store serves one operation
   * only. Name it before a route moves: another name is another record.
   *
   * @default method, mount path and path, without the query
   */
  readonly operation?: false | string | ((req: Request) => MaybePromise<string>);
  /**
   * Whether an answer of this status is the outcome (`'save'`), or leaves the key pending until it
   * is settled. Asked for every status when the middleware is built, never again. No answer frees
   * a key: only the handler knows what it has done.
   *
   * @default 'pending' for 408 and from 500 on, 'save' for every other
   */
  readonly keep?: (status: number) => 'save' | 'pending';
  /**
   * The methods that are protected, in capitals; others pass untouched.
   *
   * @default every method but GET, HEAD, OPTIONS and TRACE
   */
  readonly methods?: readonly string[];
  /**
   * Whether a request must have a key. With `false` one without passes through, unprotected.
   *
   * @default true
   */
  readonly required?: boolean;
  /** The deadline of one claim, one release and one try to save. @default 5000 */
  readonly storeTimeoutMs?: number;
  /** How long `admit` may take; late is refused. @default 5000 */
  readonly admitTimeoutMs?: number;
  /** How long saving is tried before the client is told that it failed. @default 15000 */
  readonly saveTimeoutMs?: number;
  /**
   * The largest body that is kept. A larger one is streamed to its client, and a retry is told
   * that the action was done and its answer was not kept.
   *
   * @default 1048576
   */
  readonly maxResponseBytes?: number;
  /**
   * What may become of a key whose first attempt went quiet, because its process was killed or
   * stopped: `blind()`, `transactional(adapter)`, `keyed({ rerunWithinMs })` or
   * `sealed({ recover })`. docs/recovery.md helps to choose.
   *
   * @default blind(): nothing is ever run again; the key stays pending until it is settled
   */
  readonly recovery?: Recovery;
  /** Is given each warning, a sentence. @default process.emitWarning */
  readonly warn?: (message: string) => void;
}

/** The options, settled: nothing is left to be decided at the first request but what it asks. */
export interface Settings
  extends AttemptSettings,
    Pick<IdempotencyOptions, 'fingerprint' | 'admit' | 'tenant' | 'operation'> {
  /** The lower-case name of the header, or the function. */
  readonly key: string | ((req: Request) => MaybePromise<string | undefined>);
  readonly required: boolean;
  covers(method: string): boolean;
  isOutcome(status: number): boolean;
  readonly recovery: Recovery;
  readonly maxResponseBytes: number;
  readonly warn: (message: string) => void;
}

/** @throws {IdempotencyError} `store_invalid`, `option_invalid`, `recovery_unsupported`. */
export function settle(store: IdempotencyStore, options: IdempotencyOptions): Settings {
  checkStore(store);
  checkOptions<IdempotencyOptions>(MIDDLEWARE, options, RULES);
  const { fingerprint, admit, tenant, operation, methods } = options;
  const { key = 'Idempotency-Key', keep = defaultKeep, recovery = blind() } = options;
  const { required = true, maxResponseBytes = 1_048_576, warn = emitWarning } = options;
  const { storeTimeoutMs = 5_000, admitTimeoutMs = 5_000, saveTimeoutMs = 15_000 } = options;
  checkRecovery(recovery, store);
  return {
    store,
    runtime: NODE_RUNTIME,
    recovery,
    ...(fingerprint && { fingerprint }),
    ...(admit && { admit }),
    ...(tenant && { tenant }),
    ...(operation !== undefined && { operation }),
    key: typeof key === 'string' ? key.toLowerCase() : key,
    required,
    covers: coverage(methods),
    isOutcome: outcomes(keep),
    storeTimeoutMs,
    admitTimeoutMs,
    saveTimeoutMs,
    maxResponseBytes,
    warn,
    warnOfClaim: claimWarning(warn),
  };
}

const MIDDLEWARE = { name: 'idempotent(…)', page: 'docs/options.md' };

const RULES: { readonly [Name in keyof Required<IdempotencyOptions>]: OptionRule } = {
  fingerprint: A_FUNCTION,
  admit: A_FUNCTION,
  key: {
    expected: 'the name of a header, or a function',
    holds: (value) => typeof value === 'function' || isToken(value),
  },
  tenant: A_FUNCTION,
  operation: {
    expected: 'a name, a function or false',
    holds: (value) => value === false || typeof value === 'function' || isRecordName(value),
  },
  keep: A_FUNCTION,
  methods: {
    expected: 'a list of at least one method, in capitals',
    holds: (value) => Array.isArray(value) && value.length > 0 && value.every(isMethod),
  },
  required: A_BOOLEAN,
  storeTimeoutMs: milliseconds(),
  admitTimeoutMs: milliseconds(),
  saveTimeoutMs: milliseconds(),
  maxResponseBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER, ' of bytes'),
  /** Looked at together with the store. */
  recovery: { expected: 'a recovery mode', holds: () => true },
  warn: A_FUNCTION,
};

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

function checkStore(store: unknown): void {
  const it = (store ?? {}) as Record<string, unknown>;
  const missing = ['claim', 'complete', 'release'].filter((verb) => typeof it[verb] !== 'function');
  if (missing.length === 0) return;
  const looksLikeRequest = typeof it['method'] === 'string' && 'headers' in it;
  throw new IdempotencyError(
    'store_invalid',
    looksLikeRequest
      ? 'Expected a store, got a request: the middleware was mounted without being called. ' +
          "Write app.post('/labels', idempotent(store), handler)."
      : `Expected a store with claim, complete and release, got ${unlikeStore(store, missing)}.`,
  );
}

function unlikeStore(store: unknown, missing: readonly string[]): string {
  const { then, prototype, name } = (store ?? {}) as Record<string, unknown>;
  if (typeof then === 'function') return 'a promise: write `await SqliteStore.open(…)`';
  const claim = (prototype as Record<string, unknown> | undefined)?.['claim'];
  if (typeof claim === 'function') return `the class: write \`new ${String(name)}(…)\``;
  return `${kindOf(store)} without ${missing.join(', ')}. Pass new MemoryStore(), or another store`;
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && isHeaderName(value);
}

function isMethod(value: unknown): boolean {
  return isToken(value) && value === value.toUpperCase();
}

function coverage(methods: readonly string[] | undefined): Settings['covers'] {
  if (methods === undefined) return (method) => !SAFE_METHODS.has(method);
  const covered = new Set(methods);
  return (method) => covered.has(method);
}

/** A table, so that a `keep` that throws or answers nonsense fails now, not after an action. */
function outcomes(keep: (status: number) => unknown): Settings['isOutcome'] {
  const saved = new Set<number>();
  for (let status = 100; status <= 999; status += 1) {
    const answer = asked(keep, status);
    if (answer !== 'save' && answer !== 'pending') {
      const expected = `a function that answers 'save' or 'pending' for status ${status}`;
      throw invalidOption(MIDDLEWARE, 'keep', expected, `one that answers ${kindOf(answer)}`);
    }
    if (answer === 'save') saved.add(status);
  }
  return (status) => saved.has(status);
}

function asked(keep: (status: number) => unknown, status: number): unknown {
  try {
    return keep(status);
  } catch (cause) {
    const message = `Expected \`keep\` to answer for status ${status}, but it threw.`;
    throw new IdempotencyError('option_invalid', message, { cause });
  }
}

function defaultKeep(status: number): 'save' | 'pending' {
  return status >= 500 || status === 408 ? 'pending' : 'save';
}

function emitWarning(message: string): void {
  process.emitWarning(message, { type: 'IdempotencyWarning' });
}

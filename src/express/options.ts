import type { Request } from 'express';
import type { AttemptSettings } from '../core/attempt-settings.ts';
import { IdempotencyError } from '../core/errors.ts';
import { check, checkMs, kindOf } from '../core/option-check.ts';
import { isRecordName } from '../core/record-key.ts';
import { blind, type Recovery } from '../core/recovery.ts';
import { checkRecovery } from '../core/recovery-support.ts';
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
  checkNames(options);
  const {
    fingerprint,
    admit,
    tenant,
    operation,
    key = 'Idempotency-Key',
    required = true,
  } = options;
  const { keep = defaultKeep, warn = emitWarning, methods, recovery = blind() } = options;
  for (const [name, value] of Object.entries({ fingerprint, admit, tenant, keep, warn })) {
    if (value !== undefined) check(name, typeof value === 'function', value, 'a function');
  }
  check('required', typeof required === 'boolean', required, 'true or false');
  checkOperation(operation);
  checkRecovery(recovery, store);
  return {
    store,
    runtime: NODE_RUNTIME,
    recovery,
    ...(fingerprint && { fingerprint }),
    ...(admit && { admit }),
    ...(tenant && { tenant }),
    ...(operation !== undefined && { operation }),
    key: settledKey(key),
    required,
    covers: coverage(methods),
    isOutcome: outcomes(keep),
    storeTimeoutMs: timeout('storeTimeoutMs', options.storeTimeoutMs, 5_000),
    admitTimeoutMs: timeout('admitTimeoutMs', options.admitTimeoutMs, 5_000),
    saveTimeoutMs: timeout('saveTimeoutMs', options.saveTimeoutMs, 15_000),
    maxResponseBytes: maxBytes(options.maxResponseBytes),
    warn,
    warnOfClaim: claimWarning(warn),
  };
}

/** Typed by the options, so that one which is not listed here does not compile. */
const KNOWN: Record<keyof IdempotencyOptions, true> = {
  fingerprint: true,
  admit: true,
  key: true,
  tenant: true,
  operation: true,
  keep: true,
  methods: true,
  required: true,
  storeTimeoutMs: true,
  admitTimeoutMs: true,
  saveTimeoutMs: true,
  maxResponseBytes: true,
  recovery: true,
  warn: true,
};

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

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

function checkNames(options: unknown): void {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  check('options', isObject, options, 'an object');
  const unknown = Object.keys(options as object).filter((name) => !Object.hasOwn(KNOWN, name));
  if (unknown.length === 0) return;
  throw new IdempotencyError(
    'option_invalid',
    `Expected known options only, got ${unknown.join(', ')}. ` +
      `Known options: ${Object.keys(KNOWN).join(', ')}.`,
  );
}

function checkOperation(operation: unknown): void {
  const isRule = operation === undefined || operation === false || typeof operation === 'function';
  check('operation', isRule || isRecordName(operation), operation, 'a name, a function or false');
}

function settledKey(key: unknown): Settings['key'] {
  if (typeof key === 'function') return key as Exclude<Settings['key'], string>;
  const isHeaderName = typeof key === 'string' && TOKEN.test(key);
  check('key', isHeaderName, key, 'the name of a header, or a function');
  return (key as string).toLowerCase();
}

function coverage(methods: readonly string[] | undefined): Settings['covers'] {
  if (methods === undefined) return (method) => !SAFE_METHODS.has(method);
  const isList = Array.isArray(methods) && methods.length > 0;
  check('methods', isList, methods, 'a list of at least one method');
  for (const method of methods) {
    const isMethod = typeof method === 'string' && TOKEN.test(method);
    check('methods', isMethod && method === method.toUpperCase(), method, 'methods in capitals');
  }
  const covered = new Set(methods);
  return (method) => covered.has(method);
}

/** A table, so that a `keep` that throws or answers nonsense fails now, not after an action. */
function outcomes(keep: (status: number) => unknown): Settings['isOutcome'] {
  const saved = new Set<number>();
  for (let status = 100; status <= 999; status += 1) {
    const answer = asked(keep, status);
    const isAnswer = answer === 'save' || answer === 'pending';
    check('keep', isAnswer, answer, `'save' or 'pending' for status ${status}`);
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

function timeout(name: string, value: unknown, defaultMs: number): number {
  if (value === undefined) return defaultMs;
  checkMs(name, value);
  return value as number;
}

function maxBytes(value: number | undefined): number {
  const bytes = value === undefined ? 1_048_576 : value;
  check(
    'maxResponseBytes',
    Number.isSafeInteger(bytes) && bytes >= 0,
    value,
    'a whole number of bytes from 0',
  );
  return bytes;
}

function emitWarning(message: string): void {
  process.emitWarning(message, { type: 'IdempotencyWarning' });
}

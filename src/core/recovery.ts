import { check, checkMs } from './option-check.ts';
import type { Settlement } from './recovery-capabilities.ts';
import { OUTCOME_UNKNOWN, type ResponseWords, savedResponseOf } from './recovery-outcome.ts';
import type { KeptResponse } from './saved-response.ts';
import type { Attempt } from './store.ts';
import type { TransactionAdapter, TransactionLimits } from './transaction.ts';

/**
 * What may become of a key whose first attempt went quiet: its process was killed, or stopped.
 * That a lease is over says nothing about whether the attempt has acted, or is about to. Only
 * three things make it safe to run the handler again, and each of them is a mode; without any of
 * them nothing is ever run again.
 */
export type Recovery = BlindRecovery | KeyedRecovery | SealedRecovery | TransactionalRecovery;

/** See {@link blind}. */
export interface BlindRecovery extends LeaseTerms {
  readonly mode: 'blind';
  /** What a key whose lease is over is ended with; `undefined` leaves it pending. */
  readonly abandoned: ((reference: string) => KeptResponse) | undefined;
}

/** See {@link keyed}. */
export interface KeyedRecovery extends LeaseTerms {
  readonly mode: 'keyed';
  readonly rerunWithinMs: number;
}

/** See {@link sealed}. */
export interface SealedRecovery extends LeaseTerms {
  readonly mode: 'sealed';
  readonly recover: (context: Attempt) => Settlement | PromiseLike<Settlement>;
  readonly recoverTimeoutMs: number;
}

/** See {@link transactional}. */
export interface TransactionalRecovery<T = unknown> extends LeaseTerms {
  readonly mode: 'transactional';
  /** `undefined` where the store itself commits, synchronously: SQLite. */
  readonly adapter: TransactionAdapter<T> | undefined;
  readonly limits: TransactionLimits;
  /** The open transaction of a request, with the type of the adapter. Throws as `tx` does. */
  tx(req: { readonly idempotency?: { readonly tx: unknown } | undefined }): T;
}

/** How long a claim is its owner's without a sign of life, and how long signs are given. */
export interface LeaseTerms {
  /** `undefined` takes no lease, and nothing is ever taken over. */
  readonly leaseMs: number | undefined;
  /** A handler that has not answered by then is taken for one that never will. */
  readonly maxRunMs: number;
}

/** What {@link blind} is told. */
export interface BlindOptions extends LeaseOptions {
  /**
   * `'pending'` leaves a key whose first attempt went quiet to an operator. `'unknown'` ends it,
   * once its lease is over, with a definite answer that says that nobody knows.
   *
   * @default 'pending'
   */
  readonly onAbandoned?: 'pending' | 'unknown';
  /**
   * The answer of `'unknown'`, or a function of the reference under which an operator finds the
   * record. A plain answer carries the reference in a header line `Idempotency-Reference`.
   *
   * @default 409 `{"error":"outcome_unknown"}`
   */
  readonly response?: ResponseWords | ((reference: string) => ResponseWords);
}

/** How long a claim holds, and how long it is kept alive. */
export interface LeaseOptions {
  /** How long a claim holds without a sign of life of its process. @default 60000 */
  readonly leaseMs?: number;
  /** For how long at most signs of life are given for one handler. @default 600000 */
  readonly maxRunMs?: number;
}

/** What {@link keyed} is told. */
export interface KeyedOptions extends LeaseOptions {
  /**
   * For how long after the first claim the handler may run again: shorter than the window in which
   * every provider that the handler calls recognises a key. There is no default, since only your
   * providers know.
   */
  readonly rerunWithinMs: number;
}

/** What {@link sealed} is told. */
export interface SealedOptions extends LeaseOptions {
  /**
   * Is asked by the one attempt that took a quiet one's key over, before `admit`: what became of
   * the action? Answer `done(response)`, `neverStarted()` or `unknown()`.
   *
   * `neverStarted()` is true only if what the handler acts on can take nothing any more from any
   * earlier attempt: seal it by the attempt's number first, then look. To look and find nothing is
   * not enough: the earlier attempt may be about to act. What throws, or takes longer than
   * `recoverTimeoutMs`, counts as `unknown()`: the key stays pending, and is asked for again.
   */
  readonly recover: SealedRecovery['recover'];
  /** @default 5000 */
  readonly recoverTimeoutMs?: number;
}

/** What {@link transactional} is told besides its adapter. */
export interface TransactionalOptions {
  /** How long a claim holds; longer than `limits`, as nothing renews it. @default 60000 */
  readonly leaseMs?: number;
  /** @default 10 s a statement, 5 s a lock, 10 s between two statements */
  readonly limits?: Partial<TransactionLimits>;
}

/**
 * Nothing makes a second run safe, so there is none: the default. A key whose process was killed
 * stays pending until an operator settles it, or, with `onAbandoned: 'unknown'`, is ended with a
 * definite answer after its lease.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function blind(options: BlindOptions = {}): BlindRecovery {
  checkNames(options, ['onAbandoned', 'response', 'leaseMs', 'maxRunMs']);
  const { onAbandoned = 'pending', response = OUTCOME_UNKNOWN } = options;
  const isChoice = onAbandoned === 'pending' || onAbandoned === 'unknown';
  check('onAbandoned', isChoice, onAbandoned, "'pending' or 'unknown'");
  const terms = leaseTerms(options);
  if (onAbandoned === 'pending') {
    return { mode: 'blind', abandoned: undefined, ...terms, leaseMs: undefined };
  }
  const say = typeof response === 'function' ? response : withReference(response);
  savedResponseOf(say('0'.repeat(32)));
  return { mode: 'blind', abandoned: (reference) => savedResponseOf(say(reference)), ...terms };
}

/**
 * For a handler whose every effect is asked of a provider that recognises a key, with
 * `req.idempotency.downstreamKey(name)` as that key. Once the lease of a quiet attempt is over, and
 * within `rerunWithinMs` of the first claim, the next request runs the handler again.
 *
 * It may not be used for a handler with any other effect: that would be done twice.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function keyed(options: KeyedOptions): KeyedRecovery {
  checkNames(options, ['rerunWithinMs', 'leaseMs', 'maxRunMs']);
  const { rerunWithinMs } = options;
  checkMs('rerunWithinMs', rerunWithinMs);
  return { mode: 'keyed', rerunWithinMs, ...leaseTerms(options) };
}

/**
 * For a handler that acts on something which can be sealed: told to take nothing any more from
 * attempts up to a number, and to say what it has taken. See {@link SealedOptions.recover}.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function sealed(options: SealedOptions): SealedRecovery {
  checkNames(options, ['recover', 'recoverTimeoutMs', 'leaseMs', 'maxRunMs']);
  const { recover, recoverTimeoutMs = 5_000 } = options;
  check('recover', typeof recover === 'function', recover, 'a function');
  checkMs('recoverTimeoutMs', recoverTimeoutMs);
  return { mode: 'sealed', recover, recoverTimeoutMs, ...leaseTerms(options) };
}

/**
 * For a handler whose every effect is a write to the database that the records are in. It writes
 * through `req.idempotency.tx`; its writes and the saved response are committed together, and only
 * then the first byte leaves. A quiet attempt has left nothing, so the next request runs again.
 *
 * `adapter` opens the transactions of your library. Leave it out with SqliteStore: there the
 * handler writes in `req.idempotency.commitSync`.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function transactional<T>(
  adapter?: TransactionAdapter<T>,
  options: TransactionalOptions = {},
): TransactionalRecovery<T> {
  checkNames(options, ['leaseMs', 'limits']);
  const isAdapter = adapter === undefined || typeof adapter?.begin === 'function';
  check('adapter', isAdapter, adapter, 'a transaction adapter, such as pgTransactions(pool)');
  const limits = { ...TRANSACTION_LIMITS, ...options.limits };
  checkNames(options.limits ?? {}, Object.keys(TRANSACTION_LIMITS));
  const { leaseMs } = leaseTerms(options);
  for (const [name, ms] of Object.entries(limits)) {
    checkMs(name, ms);
    check(name, ms < leaseMs, ms, `shorter than leaseMs, which is ${leaseMs}`);
  }
  const tx: TransactionalRecovery<T>['tx'] = (req) => req.idempotency?.tx as T;
  return { mode: 'transactional', adapter, limits, leaseMs, maxRunMs: leaseMs, tx };
}

const TRANSACTION_LIMITS: TransactionLimits = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleTimeoutMs: 10_000,
};

function leaseTerms(options: LeaseOptions): { leaseMs: number; maxRunMs: number } {
  const { leaseMs = 60_000, maxRunMs = 600_000 } = options;
  checkMs('leaseMs', leaseMs);
  checkMs('maxRunMs', maxRunMs);
  return { leaseMs, maxRunMs };
}

function withReference(response: ResponseWords): (reference: string) => ResponseWords {
  return (reference) => ({
    ...response,
    headers: { ...response.headers, 'Idempotency-Reference': reference },
  });
}

function checkNames(options: object, known: readonly string[]): void {
  check('recovery', typeof options === 'object' && options !== null, options, 'an object');
  for (const name of Object.keys(options)) {
    check(name, known.includes(name), 'set', `left out: known are ${known.join(', ')}`);
  }
}

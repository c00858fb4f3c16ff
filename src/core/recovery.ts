import {
  A_FUNCTION,
  checkArgument,
  checkOptions,
  invalidOption,
  milliseconds,
  type OptionOwner,
  type OptionRule,
} from './option-check.ts';
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

/**
 * What {@link blind} is told: `'pending'`, the default, leaves a key whose first attempt went quiet
 * to an operator; `'unknown'` ends it with a definite answer.
 */
export type BlindOptions = { readonly onAbandoned?: 'pending' } | AbandonedOptions;

/** What {@link blind} is told, where a key is to have a definite answer in any case. */
export interface AbandonedOptions extends LeaseOptions {
  /** Ends the key, once its lease is over, with an answer that says that nobody knows. */
  readonly onAbandoned: 'unknown';
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
   * every provider that the handler calls recognises a key, and longer than `leaseMs`. There is no
   * default, since only your providers know.
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
  if (options?.onAbandoned !== 'unknown') {
    checkOptions<Pick<BlindOptions, 'onAbandoned'>>(owner('blind'), options, {
      onAbandoned: AN_END,
    });
    return { mode: 'blind', abandoned: undefined, leaseMs: undefined, maxRunMs: MAX_RUN_MS };
  }
  const rules = { ...LEASE_RULES, onAbandoned: AN_END, response: A_RESPONSE };
  checkOptions<AbandonedOptions>(owner('blind'), options, rules);
  const { response = OUTCOME_UNKNOWN } = options;
  const say = typeof response === 'function' ? response : withReference(response);
  savedResponseOf(say('0'.repeat(32)));
  const abandoned = (reference: string) => savedResponseOf(say(reference));
  return { mode: 'blind', abandoned, ...leaseTerms(options) };
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
  const rerun = { ...milliseconds(), isRequired: true } as const;
  checkOptions<KeyedOptions>(owner('keyed'), options, { ...LEASE_RULES, rerunWithinMs: rerun });
  const { rerunWithinMs } = options;
  const terms = leaseTerms(options);
  if (rerunWithinMs <= terms.leaseMs) {
    const expected = `longer than leaseMs, which is ${terms.leaseMs}`;
    throw invalidOption(owner('keyed'), 'rerunWithinMs', expected, String(rerunWithinMs));
  }
  return { mode: 'keyed', rerunWithinMs, ...terms };
}

/**
 * For a handler that acts on something which can be sealed: told to take nothing any more from
 * attempts up to a number, and to say what it has taken. See {@link SealedOptions.recover}.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function sealed(options: SealedOptions): SealedRecovery {
  checkOptions<SealedOptions>(owner('sealed'), options, {
    ...LEASE_RULES,
    recover: { ...A_FUNCTION, isRequired: true },
    recoverTimeoutMs: milliseconds(),
  });
  const { recover, recoverTimeoutMs = 5_000 } = options;
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
  const isAdapter = adapter === undefined || typeof adapter?.begin === 'function';
  checkArgument(TRANSACTIONAL, isAdapter, adapter, AN_ADAPTER);
  const rules = { leaseMs: LEASE_RULES.leaseMs, limits: AN_OBJECT };
  checkOptions<TransactionalOptions>(TRANSACTIONAL, options, rules);
  const limits = { ...TRANSACTION_LIMITS, ...options.limits };
  checkOptions<TransactionLimits>(LIMITS, limits, LIMIT_RULES);
  const { leaseMs } = leaseTerms(options);
  for (const [name, ms] of Object.entries<number>({ ...limits })) {
    if (ms < leaseMs) continue;
    const expected = `shorter than leaseMs, which is ${leaseMs}`;
    throw invalidOption(LIMITS, name, expected, String(ms));
  }
  const tx: TransactionalRecovery<T>['tx'] = (req) => req.idempotency?.tx as T;
  return { mode: 'transactional', adapter, limits, leaseMs, maxRunMs: leaseMs, tx };
}

const TRANSACTION_LIMITS: TransactionLimits = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 5_000,
  idleTimeoutMs: 10_000,
};

const LEASE_MS = 60_000;
const MAX_RUN_MS = 600_000;
const LEASE_RULES = { leaseMs: milliseconds(), maxRunMs: milliseconds() };
const LIMIT_RULES = {
  statementTimeoutMs: milliseconds(),
  lockTimeoutMs: milliseconds(),
  idleTimeoutMs: milliseconds(),
};
const TRANSACTIONAL = owner('transactional');
const LIMITS = { ...TRANSACTIONAL, name: 'the limits of transactional(…)' };
const AN_ADAPTER = 'a transaction adapter, such as pgTransactions(pool)';

const AN_END: OptionRule = {
  expected: "'pending' or 'unknown'",
  holds: (value) => value === 'pending' || value === 'unknown',
};
/** What it answers is tried out when the mode is built. */
const A_RESPONSE: OptionRule = {
  expected: 'a response, or a function that answers one',
  holds: (value) => typeof value === 'function' || AN_OBJECT.holds(value),
};
const AN_OBJECT: OptionRule = {
  expected: 'an object',
  holds: (value) => typeof value === 'object' && value !== null,
};

function owner(mode: Recovery['mode']): OptionOwner {
  return { name: `${mode}(…)`, page: 'docs/recovery.md' };
}

function leaseTerms(options: LeaseOptions): { leaseMs: number; maxRunMs: number } {
  const { leaseMs = LEASE_MS, maxRunMs = MAX_RUN_MS } = options;
  return { leaseMs, maxRunMs };
}

function withReference(response: ResponseWords): (reference: string) => ResponseWords {
  return (reference) => ({
    ...response,
    headers: { ...response.headers, 'Idempotency-Reference': reference },
  });
}

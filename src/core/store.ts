import type { SavedResponse } from './saved-response.ts';
import type { SettlementAudit } from './settlement-audit.ts';

/**
 * What the middleware asks of a backend: three verbs, each one atomic decision.
 *
 * A record lives under a record key and is in one of four states:
 *
 *     (absent) --claim--> pending --complete--> completed --retention--> tombstone --> (absent)
 *     pending --release--> (absent)
 *
 * The three methods change a record in no other way; capabilities state what they change. Time
 * alone never frees, deletes or re-runs a pending one.
 *
 * What always holds, over all processes that share the backend:
 * - the fingerprint is compared before the state: another fingerprint is `conflict`, whatever
 *   the state, and the record is not touched;
 * - of any number of simultaneous claims of one absent key exactly one is answered `new`;
 * - `complete` and `release` act only for the owner that holds the record, in one statement;
 * - nobody can change a record through a reference: `complete` takes a deep copy, `claim` hands
 *   one out.
 *
 * More than the three methods is offered by the capabilities below, one method each.
 */
export interface IdempotencyStore {
  /**
   * Reserve `key` for this attempt, or learn why it cannot be had.
   *
   * | record | fingerprint | answer |
   * |---|---|---|
   * | absent | - | `new`; a pending record with `context.owner` now exists |
   * | pending, `context.owner` holds it | same | `new` again: the first reply was lost |
   * | pending | same | `pending` |
   * | completed | same | `replay`, with a copy of the saved response |
   * | tombstone | same | `expired` |
   * | any | different | `conflict` |
   *
   * A rejection means "the backend cannot tell": the claim may have been applied, or may be
   * applied later. The middleware then runs nothing and releases the owner. It must never mean
   * "not reserved", and no failure may be turned into `new`.
   */
  claim(key: string, fingerprint: string, context: Attempt, call: StoreCall): Promise<Claim>;

  /**
   * Save `response` as the outcome of the action, for good.
   *
   * Acts only for the owner of a pending record. Resolves when the response is durable, and not
   * before: the first byte goes to the client right after. A re-sent `complete` of the same owner
   * resolves and changes nothing: the first response stays.
   *
   * @throws {FencedError} the record is absent or another owner's; nothing was changed.
   * @throws {RecordTooLargeError} the backend can never take so large a response; the middleware
   *   then completes as not kept. Any other rejection means "cannot tell", and is retried.
   */
  complete(key: string, response: SavedResponse, context: Attempt, call: StoreCall): Promise<void>;

  /**
   * Give the reservation back: this attempt did not act, and never will.
   *
   * Acts only for the owner of a pending record; on anything else it resolves and does nothing,
   * since a re-sent release cannot be told from a superseded one. Resolves when done for good.
   *
   * Deletes the record at attempt 1 only. A record that was taken over keeps its number: there the
   * release ends the lease, so that the next claim finds it `pending` and can take it over.
   */
  release(key: string, context: Attempt, call: StoreCall): Promise<void>;
}

/** The five answers of {@link IdempotencyStore.claim}. */
export type Claim =
  /** `attempt` is 1 for a new record; a takeover counts up, and the number never goes down. */
  | { readonly kind: 'new'; readonly attempt: number }
  /** `leaseOver: false` spares a `takeOver` that could take nothing; leave it out if unsure. */
  | { readonly kind: 'pending'; readonly leaseOver?: boolean }
  | { readonly kind: 'replay'; readonly response: SavedResponse }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'expired' };

/**
 * One attempt at one key. The same object reaches `claim`, `admit`, the handler (as
 * `req.idempotency`), `complete` and `release`. It is frozen once the claim is answered.
 */
export interface Attempt {
  /** The idempotency key as the client sent it, unquoted. */
  readonly key: string;
  /** What the store keeps the record under: tenant, operation and key, joined unambiguously. */
  readonly recordKey: string;
  /** Whose key it is, or `undefined` when all callers share one name space. */
  readonly tenant: string | undefined;
  /** What is asked, such as `POST /labels`; `undefined` when the store serves one operation. */
  readonly operation: string | undefined;
  /** The digest of what is asked. */
  readonly fingerprint: string;
  /** An unguessable token of this attempt, made before the claim is sent. Opaque to stores. */
  readonly owner: string;
  /** 1 for the first run under this record; higher after a takeover. */
  readonly attempt: number;
  /**
   * How long a new reservation is its owner's by the store's clock, unless it is renewed;
   * `undefined` takes no lease. The end of a lease frees nothing: it only lets `takeOver` look.
   */
  readonly leaseMs?: number | undefined;
  /**
   * Aborted when the client is gone. Information only: a store never aborts on it, and the work
   * goes on, because the retry is given its result.
   */
  readonly signal: AbortSignal;
}

/** The deadline of one store call. */
export interface StoreCall {
  /** Aborted at the deadline. A store may use it to give the call up; nothing else aborts it. */
  readonly signal: AbortSignal;
  /** The time from now to the deadline, for server-side time-outs. */
  readonly timeoutMs: number;
}

/** The state of a record, as {@link InspectCapability.inspect} and `list` show it. */
export type RecordState = 'pending' | 'completed' | 'tombstone';

/** One record, as an operator or the middleware sees it. A copy: changing it changes nothing. */
export interface RecordView {
  readonly state: RecordState;
  readonly fingerprint: string;
  readonly owner: string;
  readonly attempt: number;
  /** By the store's clock, in milliseconds since 1970. */
  readonly createdAtMs: number;
  /** When the owner's lease ends; `undefined` when the claim took none. */
  readonly leaseUntilMs: number | undefined;
  readonly completedAtMs: number | undefined;
  /** The last word of an operator on it, where there was one and the store has kept it. */
  readonly settlement?: SettlementAudit;
  /** The saved response of a completed record. */
  readonly response: SavedResponse | undefined;
}

/** Capability: read one record without touching it. Unlike `claim` it never makes a reservation. */
export interface InspectCapability {
  /** The record under `key`, or `undefined` when there is none. */
  inspect(key: string, call?: StoreCall): Promise<RecordView | undefined>;
}

/** Capability: remove what retention has ended, in small batches. Pending records stay for ever. */
export interface PruneCapability {
  /**
   * Turns completed records over their retention into tombstones, and removes old tombstones.
   * Answers how many records it changed; call again while it is not 0. Safe on many replicas at
   * once, and safe to stop at any moment.
   */
  prune(options?: { readonly limit?: number; readonly signal?: AbortSignal }): Promise<number>;
}

/** One record as {@link ListCapability.list} shows it: what it is for, and never its response. */
export interface ListedRecord extends Omit<RecordView, 'response'> {
  /** What `inspect` and `settle` find it by. */
  readonly recordKey: string;
  readonly key: string;
  readonly tenant: string | undefined;
  readonly operation: string | undefined;
}

/** Which records {@link ListCapability.list} shows. */
export interface ListOptions {
  /** Default: every state. */
  readonly state?: RecordState;
  /** Only records that were first claimed at least so long ago. */
  readonly olderThanMs?: number;
  /** How many at a time, 1 to 1,000. Default: 100. */
  readonly limit?: number;
  /** What the page before said to go on from. */
  readonly after?: string;
}

/** Capability: look through the records page by page, for operators. It touches none. */
export interface ListCapability {
  /** One page, and where the next one begins; `after` is `undefined` on the last page. */
  list(
    options?: ListOptions,
  ): Promise<{ readonly records: readonly ListedRecord[]; readonly after: string | undefined }>;
}

import { randomUUID } from 'node:crypto';
import { FencedError, IdempotencyError } from '../core/errors.ts';
import { checkOptions, wholeNumber } from '../core/option-check.ts';
import { recordKeyDigestText } from '../core/record-key.ts';
import type {
  RenewCapability,
  SettleAnswer,
  SettleCapability,
  Settlement,
  SettlementNote,
  TakeOver,
  TakeOverCapability,
  TakeOverOptions,
} from '../core/recovery-capabilities.ts';
import type { SavedResponse } from '../core/saved-response.ts';
import type {
  Attempt,
  Claim,
  IdempotencyStore,
  InspectCapability,
  PruneCapability,
  RecordView,
} from '../core/store.ts';
import {
  completedAtMsOf,
  encodeRecord,
  type FinishedRecord,
  fingerprintOf,
  hasResponse,
  ownerOf,
  type PendingRecord,
  responseOf,
  viewOfFinished,
  viewOfPending,
  withoutResponse,
} from './memory-record.ts';
import {
  RETENTION_RULES,
  type Retention,
  type RetentionOptions,
  withRetentionDefaults,
} from './retention.ts';

/** The options of {@link MemoryStore}. */
export interface MemoryStoreOptions extends RetentionOptions {
  /**
   * How many records the store holds, in every state. At that number a new key is refused with
   * `store_full`, and the client is answered 503: evicting a record would let its action run again.
   *
   * @default 100_000
   */
  readonly maxRecords?: number;
}

/**
 * A store in the memory of one process, for tests and examples. **It forgets everything when the
 * process ends**, and two processes do not see each other's records: in production take a store
 * that is durable and shared by all replicas.
 *
 * @example
 * ```ts
 * app.post('/labels', idempotent(new MemoryStore()), createLabel);
 * ```
 */
export class MemoryStore
  implements
    IdempotencyStore,
    InspectCapability,
    PruneCapability,
    RenewCapability,
    TakeOverCapability,
    SettleCapability
{
  // A map a state. Entries of the last two are in the order in which their retention ends, so that
  // what has ended is always in front.
  readonly #pending = new Map<string, PendingRecord>();
  readonly #completed = new Map<string, FinishedRecord>();
  readonly #tombstones = new Map<string, FinishedRecord>();
  readonly #retention: Retention;
  readonly #maxRecords: number;
  /** Before this moment nothing can have ended. */
  #nextEndMs = Number.POSITIVE_INFINITY;

  /** @throws {IdempotencyError} `option_invalid`. */
  constructor(options: MemoryStoreOptions = {}) {
    checkOptions<MemoryStoreOptions>(MEMORY_STORE, options, {
      ...RETENTION_RULES,
      maxRecords: wholeNumber(1, MAX_RECORDS_LIMIT),
    });
    this.#retention = withRetentionDefaults(options);
    this.#maxRecords = options.maxRecords ?? 100_000;
  }

  async claim(key: string, fingerprint: string, context: Attempt): Promise<Claim> {
    const id = recordKeyDigestText(key);
    const pending = this.#pending.get(id);
    if (pending !== undefined) {
      if (pending.fingerprint !== fingerprint) return { kind: 'conflict' };
      if (pending.owner === context.owner) return { kind: 'new', attempt: pending.attempt };
      if (pending.leaseUntilMs === undefined) return { kind: 'pending' };
      return { kind: 'pending', leaseOver: this.#isLeaseOver(pending) };
    }
    const nowMs = this.#retention.now();
    const finished = this.#finished(id, nowMs);
    if (finished !== undefined) {
      if (fingerprintOf(finished) !== fingerprint) return { kind: 'conflict' };
      if (this.#isTombstone(finished, nowMs)) return { kind: 'expired' };
      return { kind: 'replay', response: responseOf(finished) };
    }
    this.#makeRoom(nowMs);
    const { leaseMs, owner } = context;
    const leaseUntilMs = leaseMs === undefined ? undefined : nowMs + leaseMs;
    this.#pending.set(id, { fingerprint, owner, attempt: 1, createdAtMs: nowMs, leaseUntilMs });
    return { kind: 'new', attempt: 1 };
  }

  async complete(key: string, response: SavedResponse, context: Attempt): Promise<void> {
    const id = recordKeyDigestText(key);
    const nowMs = this.#retention.now();
    const pending = this.#pending.get(id);
    if (pending === undefined) {
      const finished = this.#finished(id, nowMs);
      if (finished !== undefined && ownerOf(finished) === context.owner) return;
      throw new FencedError();
    }
    if (pending.owner !== context.owner) throw new FencedError();
    this.#finish(id, pending, response, nowMs);
  }

  async release(key: string, context: Attempt): Promise<void> {
    const id = recordKeyDigestText(key);
    const pending = this.#pending.get(id);
    if (pending?.owner === context.owner) this.#free(id, pending);
  }

  async renew(key: string, leaseMs: number, context: Attempt): Promise<void> {
    const id = recordKeyDigestText(key);
    const pending = this.#pending.get(id);
    if (pending?.owner !== context.owner) throw new FencedError();
    this.#pending.set(id, { ...pending, leaseUntilMs: this.#retention.now() + leaseMs });
  }

  async takeOver(
    key: string,
    fingerprint: string,
    { owner, leaseMs }: Attempt,
    { withinMs }: TakeOverOptions,
  ): Promise<TakeOver> {
    const id = recordKeyDigestText(key);
    const pending = this.#pending.get(id);
    if (pending?.fingerprint !== fingerprint) return { kind: 'not-taken' };
    if (pending.owner === owner) return { kind: 'taken', attempt: pending.attempt };
    if (!this.#isLeaseOver(pending)) return { kind: 'not-taken' };
    const nowMs = this.#retention.now();
    if (withinMs !== undefined && nowMs > pending.createdAtMs + withinMs) {
      return { kind: 'too-late' };
    }
    const attempt = pending.attempt + 1;
    const leaseUntilMs = leaseMs === undefined ? undefined : nowMs + leaseMs;
    this.#pending.set(id, { ...pending, owner, attempt, leaseUntilMs });
    return { kind: 'taken', attempt };
  }

  /** The note is not kept: nothing of this store outlives its process. */
  async settle(
    key: string,
    settlement: Settlement,
    _note: SettlementNote,
    options: { readonly force?: boolean } = {},
  ): Promise<SettleAnswer> {
    const id = recordKeyDigestText(key);
    const pending = this.#pending.get(id);
    const nowMs = this.#retention.now();
    if (pending === undefined) return this.#finished(id, nowMs) ? 'not-pending' : 'absent';
    const isHeld = pending.leaseUntilMs !== undefined && !this.#isLeaseOver(pending);
    if (isHeld && options.force !== true) return 'lease-holds';
    if (settlement.kind === 'never-started') this.#free(id, pending);
    // The record gets an owner that nobody has: whoever wakes up is fenced out.
    else this.#finish(id, { ...pending, owner: randomUUID() }, settlement.response, nowMs);
    return 'settled';
  }

  async inspect(key: string): Promise<RecordView | undefined> {
    const id = recordKeyDigestText(key);
    const pending = this.#pending.get(id);
    if (pending !== undefined) return viewOfPending(pending);
    const nowMs = this.#retention.now();
    const finished = this.#finished(id, nowMs);
    if (finished === undefined) return undefined;
    return viewOfFinished(finished, this.#isTombstone(finished, nowMs));
  }

  /**
   * Also happens by itself, a few records at every new key, so that no caller has to.
   */
  async prune(options?: {
    readonly limit?: number;
    readonly signal?: AbortSignal;
  }): Promise<number> {
    if (options?.signal?.aborted) return 0;
    return this.#prune(this.#retention.now(), options?.limit ?? PRUNE_LIMIT);
  }

  #finish(id: string, pending: PendingRecord, response: SavedResponse, nowMs: number): void {
    // Encoding is the copy: nothing of `response` is kept.
    this.#completed.set(id, encodeRecord(pending, nowMs, response));
    this.#pending.delete(id);
    this.#nextEndMs = Math.min(this.#nextEndMs, nowMs + this.#retention.resultRetentionMs);
  }

  /** The number of a record that was taken over stays: freed, it would begin again at 1. */
  #free(id: string, pending: PendingRecord): void {
    if (pending.attempt === 1) this.#pending.delete(id);
    else this.#pending.set(id, { ...pending, leaseUntilMs: this.#retention.now() });
  }

  #isLeaseOver({ leaseUntilMs }: PendingRecord): boolean {
    return leaseUntilMs !== undefined && this.#retention.now() >= leaseUntilMs;
  }

  /** The completed record or tombstone under `id`, unless even its tombstone has ended. */
  #finished(id: string, nowMs: number): Buffer | undefined {
    const kept = this.#completed.get(id) ?? this.#tombstones.get(id);
    if (kept === undefined) return undefined;
    const record = Buffer.from(kept);
    if (nowMs < this.#forgetAtMs(record)) return record;
    this.#completed.delete(id);
    this.#tombstones.delete(id);
    return undefined;
  }

  /** A record without its response stays a tombstone, even when the clock is set back. */
  #isTombstone(record: Buffer, nowMs: number): boolean {
    return !hasResponse(record) || nowMs >= this.#endAtMs(record);
  }

  #endAtMs(record: Buffer): number {
    return completedAtMsOf(record) + this.#retention.resultRetentionMs;
  }

  #forgetAtMs(record: Buffer): number {
    return this.#endAtMs(record) + this.#retention.tombstoneRetentionMs;
  }

  #makeRoom(nowMs: number): void {
    if (nowMs >= this.#nextEndMs) this.#prune(nowMs, PRUNE_LIMIT_PER_CLAIM);
    const records = this.#pending.size + this.#completed.size + this.#tombstones.size;
    if (records < this.#maxRecords) return;
    throw new IdempotencyError(
      'store_full',
      `MemoryStore holds ${records} records, which is its maxRecords, and evicts none. Raise ` +
        'maxRecords, shorten the retention, or take a store that is not in memory.',
    );
  }

  #prune(nowMs: number, limit: number): number {
    let changed = 0;
    for (const [id, kept] of this.#tombstones) {
      if (changed >= limit || nowMs < this.#forgetAtMs(Buffer.from(kept))) break;
      this.#tombstones.delete(id);
      changed += 1;
    }
    for (const [id, kept] of this.#completed) {
      const record = Buffer.from(kept);
      if (changed >= limit || nowMs < this.#endAtMs(record)) break;
      this.#completed.delete(id);
      if (nowMs < this.#forgetAtMs(record)) this.#tombstones.set(id, withoutResponse(record));
      changed += 1;
    }
    this.#nextEndMs = changed < limit ? this.#firstEndMs() : nowMs;
    return changed;
  }

  #firstEndMs(): number {
    const [completed] = this.#completed.values();
    const [tombstone] = this.#tombstones.values();
    return Math.min(
      completed === undefined ? Number.POSITIVE_INFINITY : this.#endAtMs(Buffer.from(completed)),
      tombstone === undefined ? Number.POSITIVE_INFINITY : this.#forgetAtMs(Buffer.from(tombstone)),
    );
  }
}

/** What one V8 `Map` can hold, rounded down. */
const MEMORY_STORE = { name: 'MemoryStore', page: 'docs/stores/memory.md' };
const MAX_RECORDS_LIMIT = 16_000_000;
const PRUNE_LIMIT = 1_000;
const PRUNE_LIMIT_PER_CLAIM = 64;

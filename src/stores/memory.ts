import { FencedError, IdempotencyError } from '../core/errors.ts';
import { recordKeyDigestText } from '../core/record-key.ts';
import { decodeHead, encodeHead, type SavedResponse } from '../core/saved-response.ts';
import type {
  Attempt,
  Claim,
  IdempotencyStore,
  InspectCapability,
  PruneCapability,
  RecordView,
} from '../core/store.ts';
import { checkOptions, wholeNumber } from './option-check.ts';
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
export class MemoryStore implements IdempotencyStore, InspectCapability, PruneCapability {
  // A map a state. Entries of the last two are in the order in which their retention ends, so that
  // what has ended is always in front.
  readonly #pending = new Map<string, PendingRecord>();
  readonly #completed = new Map<string, Buffer>();
  readonly #tombstones = new Map<string, Buffer>();
  readonly #retention: Retention;
  readonly #maxRecords: number;
  /** Before this moment nothing can have ended. */
  #nextEndMs = Number.POSITIVE_INFINITY;

  /** @throws {IdempotencyError} `option_invalid`. */
  constructor(options: MemoryStoreOptions = {}) {
    checkOptions<MemoryStoreOptions>('MemoryStore', options, {
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
      if (pending.owner !== context.owner) return { kind: 'pending' };
      return { kind: 'new', attempt: pending.attempt };
    }
    const nowMs = this.#retention.now();
    const finished = this.#finished(id, nowMs);
    if (finished !== undefined) {
      if (fingerprintOf(finished) !== fingerprint) return { kind: 'conflict' };
      if (this.#isTombstone(finished, nowMs)) return { kind: 'expired' };
      return { kind: 'replay', response: responseOf(finished) };
    }
    this.#makeRoom(nowMs);
    const { owner } = context;
    this.#pending.set(id, { fingerprint, owner, attempt: 1, createdAtMs: nowMs });
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
    // Encoding is the copy: nothing of `response` is kept.
    this.#completed.set(id, encodeRecord(pending, nowMs, response));
    this.#pending.delete(id);
    this.#nextEndMs = Math.min(this.#nextEndMs, nowMs + this.#retention.resultRetentionMs);
  }

  async release(key: string, context: Attempt): Promise<void> {
    const id = recordKeyDigestText(key);
    if (this.#pending.get(id)?.owner === context.owner) this.#pending.delete(id);
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

  /** The completed record or tombstone under `id`, unless even its tombstone has ended. */
  #finished(id: string, nowMs: number): Buffer | undefined {
    const record = this.#completed.get(id) ?? this.#tombstones.get(id);
    if (record === undefined || nowMs < this.#forgetAtMs(record)) return record;
    this.#completed.delete(id);
    this.#tombstones.delete(id);
    return undefined;
  }

  /** A record without its response stays a tombstone, even when the clock is set back. */
  #isTombstone(record: Buffer, nowMs: number): boolean {
    return headBytesOf(record) === 0 || nowMs >= this.#endAtMs(record);
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
    for (const [id, record] of this.#tombstones) {
      if (changed >= limit || nowMs < this.#forgetAtMs(record)) break;
      this.#tombstones.delete(id);
      changed += 1;
    }
    for (const [id, record] of this.#completed) {
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
      completed === undefined ? Number.POSITIVE_INFINITY : this.#endAtMs(completed),
      tombstone === undefined ? Number.POSITIVE_INFINITY : this.#forgetAtMs(tombstone),
    );
  }
}

/** What one V8 `Map` can hold, rounded down. */
const MAX_RECORDS_LIMIT = 16_000_000;
const PRUNE_LIMIT = 1_000;
const PRUNE_LIMIT_PER_CLAIM = 64;

/** A few fields: most live for milliseconds, and a buffer costs more than all of them. */
interface PendingRecord {
  readonly fingerprint: string;
  readonly owner: string;
  readonly attempt: number;
  readonly createdAtMs: number;
}

// A finished record is one buffer of its own, cut from no pool, so that a small record never keeps
// a larger block alive: four numbers, then owner, fingerprint, head and body, one after the other.
const ATTEMPT = 0;
const CREATED_AT = 4;
const COMPLETED_AT = 12;
const OWNER_BYTES = 20;
const FINGERPRINT_BYTES = 24;
const HEAD_BYTES = 28;
const TEXT = 32;

function encodeRecord(pending: PendingRecord, nowMs: number, response: SavedResponse): Buffer {
  const { owner, fingerprint } = pending;
  const head = encodeHead(response);
  const ownerBytes = Buffer.byteLength(owner);
  const fingerprintBytes = Buffer.byteLength(fingerprint);
  const headBytes = Buffer.byteLength(head);
  const bodyStart = TEXT + ownerBytes + fingerprintBytes + headBytes;
  const bodyBytes = response.kept ? response.body.byteLength : 0;
  const record = Buffer.allocUnsafeSlow(bodyStart + bodyBytes);
  record.writeUInt32LE(pending.attempt, ATTEMPT);
  record.writeDoubleLE(pending.createdAtMs, CREATED_AT);
  record.writeDoubleLE(nowMs, COMPLETED_AT);
  record.writeUInt32LE(ownerBytes, OWNER_BYTES);
  record.writeUInt32LE(fingerprintBytes, FINGERPRINT_BYTES);
  record.writeUInt32LE(headBytes, HEAD_BYTES);
  record.write(owner, TEXT);
  record.write(fingerprint, TEXT + ownerBytes);
  record.write(head, TEXT + ownerBytes + fingerprintBytes);
  if (response.kept) record.set(response.body, bodyStart);
  return record;
}

function completedAtMsOf(record: Buffer): number {
  return record.readDoubleLE(COMPLETED_AT);
}

function headBytesOf(record: Buffer): number {
  return record.readUInt32LE(HEAD_BYTES);
}

function ownerOf(record: Buffer): string {
  return record.toString('utf8', TEXT, TEXT + record.readUInt32LE(OWNER_BYTES));
}

function fingerprintOf(record: Buffer): string {
  const start = TEXT + record.readUInt32LE(OWNER_BYTES);
  return record.toString('utf8', start, start + record.readUInt32LE(FINGERPRINT_BYTES));
}

function headStartOf(record: Buffer): number {
  return TEXT + record.readUInt32LE(OWNER_BYTES) + record.readUInt32LE(FINGERPRINT_BYTES);
}

function responseOf(record: Buffer): SavedResponse {
  const headStart = headStartOf(record);
  const bodyStart = headStart + headBytesOf(record);
  return decodeHead(record.toString('utf8', headStart, bodyStart), record.subarray(bodyStart));
}

function withoutResponse(record: Buffer): Buffer {
  const rest = Buffer.allocUnsafeSlow(headStartOf(record));
  record.copy(rest);
  rest.writeUInt32LE(0, HEAD_BYTES);
  return rest;
}

function viewOfPending(record: PendingRecord): RecordView {
  return {
    state: 'pending',
    ...record,
    leaseUntilMs: undefined,
    completedAtMs: undefined,
    response: undefined,
  };
}

function viewOfFinished(record: Buffer, isTombstone: boolean): RecordView {
  return {
    state: isTombstone ? 'tombstone' : 'completed',
    fingerprint: fingerprintOf(record),
    owner: ownerOf(record),
    attempt: record.readUInt32LE(ATTEMPT),
    createdAtMs: record.readDoubleLE(CREATED_AT),
    leaseUntilMs: undefined,
    completedAtMs: completedAtMsOf(record),
    response: isTombstone ? undefined : responseOf(record),
  };
}

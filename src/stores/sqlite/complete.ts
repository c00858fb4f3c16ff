import { FencedError, RecordTooLargeError } from '../../core/errors.ts';
import { encodeHead, type SavedResponse } from '../../core/saved-response.ts';
import type { Retention } from '../retention.ts';
import type { SqliteConnection } from './handle.ts';
import { COMPLETED, isForgotten, PENDING } from './record-row.ts';

/** One statement decides who owns the record and whether it is still pending. */
const complete = (table: string) =>
  `UPDATE ${table}
      SET state = ${COMPLETED}, head = ?, body = ?, completed_at = ?, expires_at = ?,
          forget_at = ?, lease_until = NULL
    WHERE id = ? AND owner = ? AND state = ${PENDING}`;

const readOwner = (table: string) => `SELECT state, owner, forget_at FROM ${table} WHERE id = ?`;

/** A response as it is written: already encoded, so that later changes do not reach it. */
export interface EncodedResponse {
  readonly head: string;
  readonly body: Uint8Array | null;
}

/** SQLite's own limit of one value, unless it was compiled with a lower one. */
const MAX_VALUE_BYTES = 1_000_000_000;

/**
 * A copy: the write comes later, and what the caller does to `response` must not reach it.
 *
 * @throws {RecordTooLargeError}
 */
export function encodeResponse(response: SavedResponse): EncodedResponse {
  const head = encodeHead(response);
  if (!response.kept) return { head, body: null };
  if (response.body.byteLength > MAX_VALUE_BYTES) {
    throw new RecordTooLargeError(`SQLite takes no value of more than ${MAX_VALUE_BYTES} bytes.`);
  }
  return { head, body: Buffer.from(response.body) };
}

/** When a completion is, when its result ends and when its tombstone does. */
export interface CompletionTimes {
  readonly nowMs: number;
  readonly expiresAtMs: number;
  readonly forgetAtMs: number;
}

export function completionTimes(retention: Retention): CompletionTimes {
  const nowMs = retention.now();
  const expiresAtMs = nowMs + retention.resultRetentionMs;
  return { nowMs, expiresAtMs, forgetAtMs: expiresAtMs + retention.tombstoneRetentionMs };
}

export class CompleteVerb {
  readonly #connection: SqliteConnection;
  readonly #complete: string;
  readonly #readOwner: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#complete = complete(table);
    this.#readOwner = readOwner(table);
  }

  /** Whether `owner` holds a pending record, within a transaction that holds the write lock. */
  isOwned(id: Buffer, owner: string): boolean {
    const row = this.#connection.get(this.#readOwner, id);
    return row?.['owner'] === owner && row['state'] === PENDING;
  }

  /**
   * As `write`, but for the first time only: what is written beside it must not be written again.
   *
   * @throws {FencedError}
   */
  writeOnce(id: Buffer, owner: string, response: EncodedResponse, times: CompletionTimes): void {
    if (!this.isOwned(id, owner)) throw new FencedError();
    this.write(id, owner, response, times);
  }

  /**
   * Within a transaction that holds the write lock.
   *
   * @throws {FencedError} the record is absent or another owner's.
   */
  write(id: Buffer, owner: string, response: EncodedResponse, times: CompletionTimes): void {
    const { head, body } = response;
    const { nowMs, expiresAtMs, forgetAtMs } = times;
    const connection = this.#connection;
    const values = [head, body, nowMs, expiresAtMs, forgetAtMs, id, owner] as const;
    if (connection.run(this.#complete, ...values) === 1) return;
    // A re-sent complete finds its own completed record, and leaves the first response there.
    const row = connection.get(this.#readOwner, id);
    if (row?.['owner'] !== owner || isForgotten(row, nowMs)) throw new FencedError();
  }
}

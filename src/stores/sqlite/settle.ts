import { randomUUID } from 'node:crypto';
import type { SettleAnswer, SettlementNote } from '../../core/recovery-capabilities.ts';
import type { CompletionTimes, EncodedResponse } from './complete.ts';
import type { SqliteConnection, SqliteRow } from './handle.ts';
import { COMPLETED, isForgotten, isLeaseOver, PENDING } from './record-row.ts';

const read = (table: string) =>
  `SELECT state, attempt, lease_until, forget_at FROM ${table} WHERE id = ?`;

/** The record gets an owner that nobody has: whoever wakes up is fenced out. */
const complete = (table: string) =>
  `UPDATE ${table}
      SET state = ${COMPLETED}, owner = ?, head = ?, body = ?, completed_at = ?, expires_at = ?,
          forget_at = ?, lease_until = NULL, settlement = ?
    WHERE id = ? AND state = ${PENDING}`;

const free = (table: string) => `DELETE FROM ${table} WHERE id = ? AND state = ${PENDING}`;

/** As a release does: the number of a record that was taken over stays. */
const endLease = (table: string) =>
  `UPDATE ${table} SET lease_until = ?, settlement = ? WHERE id = ? AND state = ${PENDING}`;

/** How an operator ends a record; without a response the action was never started. */
export interface SettleRequest extends SettlementNote {
  readonly kind: string;
  readonly response: EncodedResponse | undefined;
  readonly force: boolean;
}

export class SettleVerb {
  readonly #connection: SqliteConnection;
  readonly #read: string;
  readonly #complete: string;
  readonly #free: string;
  readonly #endLease: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#read = read(table);
    this.#complete = complete(table);
    this.#free = free(table);
    this.#endLease = endLease(table);
  }

  /** Within a transaction that holds the write lock. */
  write(id: Buffer, request: SettleRequest, times: CompletionTimes): SettleAnswer {
    const { kind, by, reason, response, force } = request;
    const { nowMs, expiresAtMs, forgetAtMs } = times;
    const row = this.#connection.get(this.#read, id);
    const refusal = refusalOf(row, force, nowMs);
    if (refusal !== undefined) return refusal;
    const note = JSON.stringify({ kind, by, reason, force, atMs: nowMs });
    if (response !== undefined) {
      const { head, body } = response;
      const values = [randomUUID(), head, body, nowMs, expiresAtMs, forgetAtMs, note, id] as const;
      this.#connection.run(this.#complete, ...values);
    } else if (row?.['attempt'] === 1) this.#connection.run(this.#free, id);
    else this.#connection.run(this.#endLease, nowMs, note, id);
    return 'settled';
  }
}

function refusalOf(
  row: SqliteRow | undefined,
  force: boolean,
  nowMs: number,
): SettleAnswer | undefined {
  if (row === undefined || isForgotten(row, nowMs)) return 'absent';
  if (row['state'] !== PENDING) return 'not-pending';
  const holds = row['lease_until'] !== null && !isLeaseOver(row, nowMs);
  return holds && !force ? 'lease-holds' : undefined;
}

import { IdempotencyError } from '../../core/errors.ts';
import { decodeHead, type SavedResponse } from '../../core/saved-response.ts';
import type { RecordState, RecordView } from '../../core/store.ts';
import { keptSettlement } from '../kept-settlement.ts';
import type { SqliteRow, SqliteValue } from './handle.ts';

/** The values of the column `state`. */
export const PENDING = 0;
export const COMPLETED = 1;
export const TOMBSTONE = 2;

/** The columns that {@link summaryOf} reads. */
export const SUMMARY_COLUMNS: string =
  'state, fingerprint, owner, attempt, created_at, lease_until, completed_at, expires_at, ' +
  'settlement';

/** Whether retention has ended even the tombstone: the record counts as absent. */
export function isForgotten(row: SqliteRow, nowMs: number): boolean {
  return row['state'] !== PENDING && nowMs >= Number(row['forget_at']);
}

/** Whether there was a lease, and it is over. */
export function isLeaseOver(row: SqliteRow, nowMs: number): boolean {
  return row['lease_until'] !== null && nowMs >= Number(row['lease_until']);
}

/** @throws {IdempotencyError} `record_corrupt`. */
export function stateOf(row: SqliteRow, nowMs: number): RecordState {
  switch (row['state']) {
    case PENDING:
      return 'pending';
    case COMPLETED:
      return nowMs >= Number(row['expires_at']) ? 'tombstone' : 'completed';
    case TOMBSTONE:
      return 'tombstone';
    default:
      throw new IdempotencyError(
        'record_corrupt',
        'A record is in a state that this package does not know. It was kept; look at its row.',
      );
  }
}

/** Everything about a record but its response. */
export function summaryOf(row: SqliteRow, nowMs: number): Omit<RecordView, 'response'> {
  return {
    state: stateOf(row, nowMs),
    fingerprint: String(row['fingerprint']),
    owner: String(row['owner']),
    attempt: Number(row['attempt']),
    createdAtMs: Number(row['created_at']),
    leaseUntilMs: optionalNumber(row['lease_until']),
    completedAtMs: optionalNumber(row['completed_at']),
    ...keptSettlement(row['settlement']),
  };
}

/** @throws {IdempotencyError} `record_corrupt`. */
export function responseOf(row: SqliteRow): SavedResponse {
  const body = row['body'];
  // An empty blob and none are one thing: not every driver tells them apart.
  return decodeHead(String(row['head']), ArrayBuffer.isView(body) ? body : EMPTY);
}

const EMPTY = new Uint8Array(0);

function optionalNumber(value: SqliteValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

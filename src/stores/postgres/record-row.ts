import { IdempotencyError } from '../../core/errors.ts';
import type { RecordState, RecordView } from '../../core/store.ts';
import { keptSettlement } from '../kept-settlement.ts';
import type { Row } from './driver.ts';
import { milliseconds } from './table.ts';

/** The values of the column `state`. A tombstone is completed, and `tombstone` is true. */
export const PENDING = 0;
export const COMPLETED = 1;

/** Whether a record counts as there: what retention has ended may not have been pruned yet. */
export function isThere(now: string): string {
  return `(forget_at is null or forget_at > ${now})`;
}

/** The state as core names it, judged by the clock, since pruning may come late. */
export function stateAt(now: string): string {
  return `case when state = ${PENDING} then 'pending'
               when state <> ${COMPLETED} then 'unknown'
               when tombstone or expires_at <= ${now} then 'tombstone'
               else 'completed' end`;
}

export const SUMMARY_COLUMNS = [
  'state',
  'fingerprint',
  'owner',
  'attempt',
  'created_at',
  'lease_until',
  'completed_at',
  'settlement',
] as const;

/** What {@link summaryOf} reads, as text. */
export function summaryAt(now: string): string {
  return `${stateAt(now)} as state, fingerprint, owner, attempt::text as attempt,
       ${milliseconds('created_at')} as created_at, ${milliseconds('lease_until')} as lease_until,
       ${milliseconds('completed_at')} as completed_at, settlement`;
}

/**
 * Everything about a record but its response.
 *
 * @throws {IdempotencyError} `record_corrupt`.
 */
export function summaryOf(row: Row): Omit<RecordView, 'response'> {
  const state = row['state'];
  if (state !== 'pending' && state !== 'completed' && state !== 'tombstone') throw unknownState();
  return {
    state: state satisfies RecordState,
    fingerprint: String(row['fingerprint']),
    owner: String(row['owner']),
    attempt: Number(row['attempt']),
    createdAtMs: Number(row['created_at']),
    leaseUntilMs: optionalNumber(row['lease_until']),
    completedAtMs: optionalNumber(row['completed_at']),
    ...keptSettlement(row['settlement']),
  };
}

/**
 * The two columns of a saved response. `body` comes as base64: unlike the text form of bytea that
 * does not depend on a setting of the server.
 */
export function responseIn(row: Row): [head: string, body: Buffer] {
  return [String(row['head']), Buffer.from(row['body'] ?? '', 'base64')];
}

export function unknownState(): IdempotencyError {
  return new IdempotencyError(
    'record_corrupt',
    'A record is in a state that this package does not know. It was kept; look at its row.',
  );
}

function optionalNumber(value: string | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

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
               when tombstone = 1 or expires_at <= ${now} then 'tombstone'
               else 'completed' end`;
}

/** What {@link summaryOf} reads. */
export function summaryAt(now: string): string {
  return `${stateAt(now)} as summary, fingerprint, owner, attempt,
       ${milliseconds('created_at')} as created_at, ${milliseconds('lease_until')} as lease_until,
       ${milliseconds('completed_at')} as completed_at, settlement`;
}

/**
 * Everything about a record but its response.
 *
 * @throws {IdempotencyError} `record_corrupt`.
 */
export function summaryOf(row: Row): Omit<RecordView, 'response'> {
  const state = textOf(row, 'summary');
  if (state !== 'pending' && state !== 'completed' && state !== 'tombstone') throw unknownState();
  return {
    state: state satisfies RecordState,
    fingerprint: textOf(row, 'fingerprint') ?? '',
    owner: textOf(row, 'owner') ?? '',
    attempt: Number(row['attempt']),
    createdAtMs: Number(row['created_at']),
    leaseUntilMs: optionalNumber(row['lease_until']),
    completedAtMs: optionalNumber(row['completed_at']),
    ...keptSettlement(textOf(row, 'settlement')),
  };
}

/** What {@link responseIn} reads. `body` alone is a word of SQL where sql_mode is ORACLE. */
export const RESPONSE_COLUMNS = 'response_head, response_body';

/** The two columns of a saved response. */
export function responseIn(row: Row): [head: string, body: Uint8Array] {
  const body = row['response_body'];
  return [textOf(row, 'response_head') ?? '', Buffer.isBuffer(body) ? body : NO_BYTES];
}

export function unknownState(): IdempotencyError {
  return new IdempotencyError(
    'record_corrupt',
    'A record is in a state that this package does not know. It was kept; look at its row.',
  );
}

/** Text, of which the columns hold the bytes. */
export function textOf(row: Row, column: string): string | undefined {
  const value = row[column] ?? undefined;
  return Buffer.isBuffer(value) ? value.toString() : value === undefined ? value : String(value);
}

/** Whether a column holds this very text, byte for byte. */
export function holds(row: Row, column: string, text: string): boolean {
  const value = row[column];
  return Buffer.isBuffer(value) && value.equals(Buffer.from(text));
}

/** Whether an expression is true. Drivers answer a number, or a text where they are told to. */
export function isTrue(row: Row, column: string): boolean {
  return Number(row[column] ?? 0) === 1;
}

function optionalNumber(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

const NO_BYTES = new Uint8Array(0);

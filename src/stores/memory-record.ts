import { decodeHead, encodeHead, type SavedResponse } from '../core/saved-response.ts';
import type { RecordView } from '../core/store.ts';

/** A few fields: most live for milliseconds, and a buffer costs more than all of them. */
export interface PendingRecord {
  readonly fingerprint: string;
  readonly owner: string;
  readonly attempt: number;
  readonly createdAtMs: number;
  readonly leaseUntilMs: number | undefined;
}

/**
 * A finished record: four numbers, then owner, fingerprint, head and body, one after the other. One
 * buffer of its own, cut from no pool, so that a small record never keeps a larger block alive; and
 * kept without a view on it, which takes as much as all of its fields.
 */
export type FinishedRecord = ArrayBuffer;

const ATTEMPT = 0;
const CREATED_AT = 4;
const COMPLETED_AT = 12;
const OWNER_BYTES = 20;
const FINGERPRINT_BYTES = 24;
const HEAD_BYTES = 28;
const TEXT = 32;

export function encodeRecord(
  pending: PendingRecord,
  nowMs: number,
  response: SavedResponse,
): FinishedRecord {
  const { owner, fingerprint } = pending;
  const head = encodeHead(response);
  const text = owner + fingerprint + head;
  const textBytes = Buffer.byteLength(text);
  const isAscii = textBytes === text.length;
  const ownerBytes = isAscii ? owner.length : Buffer.byteLength(owner);
  const fingerprintBytes = isAscii ? fingerprint.length : Buffer.byteLength(fingerprint);
  const bodyStart = TEXT + textBytes;
  const size = bodyStart + (response.kept ? response.body.byteLength : 0);
  const record = size > SCRATCH.length ? Buffer.allocUnsafeSlow(size) : SCRATCH;
  record.writeUInt32LE(pending.attempt, ATTEMPT);
  record.writeDoubleLE(pending.createdAtMs, CREATED_AT);
  record.writeDoubleLE(nowMs, COMPLETED_AT);
  record.writeUInt32LE(ownerBytes, OWNER_BYTES);
  record.writeUInt32LE(fingerprintBytes, FINGERPRINT_BYTES);
  record.writeUInt32LE(textBytes - ownerBytes - fingerprintBytes, HEAD_BYTES);
  record.write(text, TEXT, isAscii ? 'latin1' : 'utf8');
  if (response.kept) record.set(response.body, bodyStart);
  return record === SCRATCH ? SCRATCH.buffer.slice(0, size) : record.buffer;
}

/** Where small records are put together: a buffer for each, and a view on it, cost 1 us more. */
const SCRATCH = Buffer.allocUnsafeSlow(16_384);

export function completedAtMsOf(record: Buffer): number {
  return record.readDoubleLE(COMPLETED_AT);
}

/** Whether it still has one; a tombstone has none. */
export function hasResponse(record: Buffer): boolean {
  return record.readUInt32LE(HEAD_BYTES) > 0;
}

export function ownerOf(record: Buffer): string {
  return record.toString('utf8', TEXT, TEXT + record.readUInt32LE(OWNER_BYTES));
}

export function fingerprintOf(record: Buffer): string {
  const start = TEXT + record.readUInt32LE(OWNER_BYTES);
  return record.toString('utf8', start, start + record.readUInt32LE(FINGERPRINT_BYTES));
}

function headStartOf(record: Buffer): number {
  return TEXT + record.readUInt32LE(OWNER_BYTES) + record.readUInt32LE(FINGERPRINT_BYTES);
}

export function responseOf(record: Buffer): SavedResponse {
  const headStart = headStartOf(record);
  const bodyStart = headStart + record.readUInt32LE(HEAD_BYTES);
  return decodeHead(record.toString('utf8', headStart, bodyStart), record.subarray(bodyStart));
}

export function withoutResponse(record: Buffer): FinishedRecord {
  const rest = Buffer.allocUnsafeSlow(headStartOf(record));
  record.copy(rest);
  rest.writeUInt32LE(0, HEAD_BYTES);
  return rest.buffer;
}

export function viewOfPending(record: PendingRecord): RecordView {
  return {
    state: 'pending',
    ...record,
    completedAtMs: undefined,
    response: undefined,
  };
}

export function viewOfFinished(record: Buffer, isTombstone: boolean): RecordView {
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

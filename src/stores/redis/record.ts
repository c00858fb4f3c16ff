import { IdempotencyError } from '../../core/errors.ts';
import type { SettlementAudit } from '../../core/settlement-audit.ts';
import type { Attempt, RecordState } from '../../core/store.ts';
import { keptSettlement } from '../kept-settlement.ts';

/*
 * A record is two keys of one hash slot:
 *
 *     <prefix>r:{<digest>}   the state, below: no TTL while it is pending; then for as long as the
 *                            result and its tombstone are kept
 *     <prefix>b:{<digest>}   the saved response: for as long as the result is kept
 *
 * So a completed state without a body is a tombstone, and a body that has ended by its TTL can
 * never make a key look unused. The state is text, for whoever looks with redis-cli:
 *
 *     1P <attempt> <first claimed at> <lease until, or 0> <completed at, or 0>
 *       <owner><fingerprint><key><tenant><operation>[<settlement>…]
 *
 * on one line: 1 is the version of the format, P pending, C completed; each text comes with its
 * length in bytes in front, as in `3:abc`, so that none can run into the next.
 */

/** Version, state, attempt, first claim, lease; then where the owner begins, and its length. */
export const LUA_HEAD = `'^1([PC]) (%d+) (%d+) (%d+) %d+ ()(%d+):()'`;

/** A text as the state holds it. */
export function field(text: string): string {
  return `${Buffer.byteLength(text)}:${text}`;
}

/** What of an attempt stays the same in a takeover, but for the fingerprint. */
export function identityOf({ key, tenant = '', operation = '' }: Attempt): string {
  return field(key) + field(tenant) + field(operation);
}

/** A state as it was read. */
export interface StoredState {
  readonly isPending: boolean;
  readonly attempt: number;
  readonly createdAtMs: number;
  readonly leaseUntilMs: number | undefined;
  readonly completedAtMs: number | undefined;
  readonly owner: string;
  readonly fingerprint: string;
  readonly key: string;
  readonly tenant: string | undefined;
  readonly operation: string | undefined;
  readonly settlement?: SettlementAudit;
}

/** @throws {IdempotencyError} `record_corrupt`. */
export function decodeState(bytes: Buffer): StoredState {
  const head = HEAD.exec(bytes.toString('latin1', 0, HEAD_MAX_BYTES));
  if (head === null) throw corrupt();
  const [{ length }, state, attempt, createdAtMs, leaseUntilMs, completedAtMs] = head;
  const [owner, fingerprint, key, tenant, operation, ...settlements] = fieldsOf(bytes, length);
  return {
    isPending: state === 'P',
    attempt: Number(attempt),
    createdAtMs: Number(createdAtMs),
    leaseUntilMs: Number(leaseUntilMs) || undefined,
    completedAtMs: Number(completedAtMs) || undefined,
    owner: owner ?? '',
    fingerprint: fingerprint ?? '',
    key: key ?? '',
    tenant: tenant || undefined,
    operation: operation || undefined,
    ...keptSettlement(settlements.at(-1)),
  };
}

export function stateOf(stored: Pick<StoredState, 'isPending'>, hasBody: boolean): RecordState {
  if (stored.isPending) return 'pending';
  return hasBody ? 'completed' : 'tombstone';
}

export function corrupt(): IdempotencyError {
  return new IdempotencyError(
    'record_corrupt',
    'The state of a record cannot be read: it is of another version, or something else wrote to ' +
      'its Redis key. The record was kept; settle it by hand.',
  );
}

const HEAD = /^1([PC]) (\d+) (\d+) (\d+) (\d+) /;
const HEAD_MAX_BYTES = 80;
const LENGTH_MAX_DIGITS = 10;
const FIELD_COUNT = 5;

function fieldsOf(bytes: Buffer, start: number): string[] {
  const fields: string[] = [];
  let at = start;
  while (fields.length < FIELD_COUNT || at < bytes.length) {
    const colon = bytes.indexOf(':', at);
    const digits = bytes.toString('latin1', at, Math.min(colon, at + LENGTH_MAX_DIGITS));
    if (colon < 0 || !/^\d+$/.test(digits)) throw corrupt();
    at = colon + 1 + Number(digits);
    if (at > bytes.length) throw corrupt();
    fields.push(bytes.toString('utf8', colon + 1, at));
  }
  return fields;
}

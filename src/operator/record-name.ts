import { IdempotencyError } from '../core/errors.ts';
import { recordKey, recordKeyDigest } from '../core/record-key.ts';
import type { IdempotencyStore, RecordState } from '../core/store.ts';
import { listRecords } from './record-list.ts';

/**
 * How a record is named: by its record key as it is (`recordKey` of a listed record, or of
 * `req.idempotency`), by its reference, or by what the record key is made of.
 */
export type RecordName = string | RecordReference | RecordParts;

/** The name of a record that tells nothing about what it is for. */
export interface RecordReference {
  /**
   * What `Idempotency-Reference` and the command line call it, or the `recordId` of an event: the
   * SHA-256 of the record key in hex digits, of which the first 8 do. It is looked for among the
   * pending records first, so that it is enough if no other pending record begins so. The store
   * must offer `list`.
   */
  readonly reference: string;
}

/** What a record is for. */
export interface RecordParts {
  readonly tenant?: string | undefined;
  /** Such as `POST /labels`; leave it out where the middleware has `operation: false`. */
  readonly operation?: string | undefined;
  /** The idempotency key, without quotes. */
  readonly key: string;
}

/**
 * The record key that a name stands for; `undefined` when no record has that reference. A record
 * key is taken as it is, whether there is a record or not.
 *
 * @throws {IdempotencyError} `option_invalid`, `reference_ambiguous`, `capability_missing`.
 */
export async function recordKeyOf(
  store: IdempotencyStore,
  name: RecordName,
): Promise<string | undefined> {
  if (isText(name)) return name;
  const { reference, key, tenant, operation } = (name ?? {}) as Partial<
    RecordReference & RecordParts
  >;
  if (reference === undefined && isText(key)) return recordKey(tenant, operation, key);
  if (typeof reference !== 'string' || !REFERENCE.test(reference)) throw invalidName();
  const digits = reference.toLowerCase();
  return (await findRecordKey(store, digits, 'pending')) ?? (await findRecordKey(store, digits));
}

const REFERENCE = /^[0-9a-f]{8,64}$/i;
const WHOLE_DIGITS = 64;
const PAGE_SIZE = 1_000;

async function findRecordKey(
  store: IdempotencyStore,
  digits: string,
  state?: RecordState,
): Promise<string | undefined> {
  const which = state === undefined ? {} : { state };
  let found: string | undefined;
  for await (const record of listRecords(store, { ...which, pageSize: PAGE_SIZE })) {
    // On Redis one record may be seen twice.
    if (record.recordKey === found) continue;
    if (!recordKeyDigest(record.recordKey).toString('hex').startsWith(digits)) continue;
    if (found !== undefined) throw ambiguous(state);
    found = record.recordKey;
    if (digits.length === WHOLE_DIGITS) break;
  }
  return found;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function invalidName(): IdempotencyError {
  return new IdempotencyError(
    'option_invalid',
    'Expected a record key, { tenant, operation, key }, or { reference } of 8 to 64 hex digits; ' +
      'got something else. See docs/operator.md.',
  );
}

function ambiguous(state: RecordState | undefined): IdempotencyError {
  return new IdempotencyError(
    'reference_ambiguous',
    `Expected a reference of one record, got the beginning of several ${state ?? ''} ones. ` +
      'Give more of its digits.',
  );
}

import { type RecordKeyParts, recordKeyParts, recordReference } from '../core/record-key.ts';
import type { IdempotencyStore, RecordView } from '../core/store.ts';
import { offering } from './capability.ts';
import { type RecordName, recordKeyOf } from './record-name.ts';

/** One record, with its response where it has one, and what it is for. */
export interface ShownRecord extends RecordView, RecordKeyParts {
  /** The first 32 hex digits of the SHA-256 of the record key. */
  readonly reference: string;
  readonly recordKey: string;
}

/**
 * Shows one record and touches nothing; `undefined` when there is none. Needs the capability
 * `inspect`, and `list` too when the record is named by its reference.
 *
 * @throws {IdempotencyError} `option_invalid`, `reference_ambiguous`, `capability_missing`, and
 *   `record_corrupt` when its saved response cannot be read.
 */
export async function showRecord(
  store: IdempotencyStore,
  name: RecordName,
): Promise<ShownRecord | undefined> {
  const capable = offering(store, 'inspect');
  const recordKey = await recordKeyOf(store, name);
  if (recordKey === undefined) return undefined;
  const view = await capable.inspect(recordKey);
  if (view === undefined) return undefined;
  return {
    reference: recordReference(recordKey),
    recordKey,
    ...recordKeyParts(recordKey),
    ...view,
  };
}

import { recordKey, recordKeyDigest } from '../core/record-key.ts';
import type { ListedRecord } from '../core/store.ts';

/**
 * The record key of a record that is kept under the digest of it, made again from what is shown to
 * people: so that no backend has to keep it twice.
 */
export function listedRecordKey(
  { tenant, operation, key }: Pick<ListedRecord, 'key' | 'tenant' | 'operation'>,
  digest: Buffer,
): string {
  const joined = recordKey(tenant, operation, key);
  // Without the middleware, whoever calls the store chooses the record key.
  return recordKeyDigest(joined).equals(digest) ? joined : key;
}

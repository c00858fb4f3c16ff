import { recordKey, recordKeyDigest } from '../core/record-key.ts';
import type { ListedRecord } from '../core/store.ts';

/** What a record is for, as its backend shows it to people. */
export type ShownIdentity = Pick<ListedRecord, 'key' | 'tenant' | 'operation'>;

/**
 * The record key of a record that is kept under the digest of it, made again from what is shown to
 * people: so that no backend has to keep it twice. The digest says which of the forms it is.
 */
export function listedRecordKey(shown: ShownIdentity, digest: Buffer): string {
  const { tenant, operation, key } = shown;
  const joined = recordKey(tenant, operation, key);
  // Without the middleware, whoever calls the store chooses the record key.
  const forms = [joined, key, withNul(shown)];
  return forms.find((form) => recordKeyDigest(form).equals(digest)) ?? joined;
}

/** Where text cannot hold NUL, it is shown as a sign for it. */
function withNul({ tenant, operation, key }: ShownIdentity): string {
  const restored = (text: string | undefined) => text?.replaceAll('\u2400', '\0');
  return recordKey(restored(tenant), restored(operation), restored(key) ?? key);
}

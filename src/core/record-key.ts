import { hash } from 'node:crypto';

/** No idempotency key can hold it, so a bare key is never equal to a joined one. */
const SEPARATOR = '\u001f';

/**
 * What the store keeps a record under. Tenant and operation carry their length, so that no two
 * triples share a record key: (`a`, `bc`) and (`ab`, `c`) differ. With neither tenant nor operation
 * it is the bare idempotency key. Frozen by golden vectors.
 */
export function recordKey(
  tenant: string | undefined,
  operation: string | undefined,
  key: string,
): string {
  return part('t', tenant) + part('o', operation) + key;
}

/** The 32 bytes that backends with a fixed-size primary key use: SHA-256 of the record key. */
export function recordKeyDigest(recordKey: string): Buffer {
  return hash('sha256', recordKey, 'buffer');
}

function part(label: string, text: string | undefined): string {
  return text === undefined ? '' : `${SEPARATOR}${label}${text.length}:${text}${SEPARATOR}`;
}

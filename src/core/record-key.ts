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

/** What a record key was made of. */
export interface RecordKeyParts {
  readonly tenant: string | undefined;
  readonly operation: string | undefined;
  readonly key: string;
}

/** The reverse of `recordKey`, for people who want to read it. */
export function recordKeyParts(recordKey: string): RecordKeyParts {
  const [tenant, afterTenant] = cutPart('t', recordKey);
  const [operation, key] = cutPart('o', afterTenant);
  return { tenant, operation, key };
}

/** The 32 bytes that backends with a fixed-size primary key use: SHA-256 of the record key. */
export function recordKeyDigest(recordKey: string): Buffer {
  return Buffer.from(recordKeyDigestText(recordKey), 'latin1');
}

/**
 * The same 32 bytes as a string, one character a byte: for a map in memory. Asking for a buffer
 * directly costs five times as much, in Node 20 as in 24: it is allocated outside of the pool.
 */
export function recordKeyDigestText(recordKey: string): string {
  return hash('sha256', recordKey, 'binary');
}

/** How an operator is told of a record: the first half of its digest, in hex. */
export function recordReference(recordKey: string): string {
  return hash('sha256', recordKey, 'hex').slice(0, 32);
}

/**
 * Whether `name` can be the tenant or the operation of a record key, or a fingerprint: a string
 * that is not empty, without lone surrogates, since all of those become one and the same character
 * in UTF-8, and without NUL, which PostgreSQL keeps in no text.
 */
export function isRecordName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && !NOT_IN_NAMES.test(name);
}

const NOT_IN_NAMES = /[\p{Surrogate}\0]/u;

function cutPart(label: string, text: string): [part: string | undefined, rest: string] {
  if (!text.startsWith(SEPARATOR + label)) return [undefined, text];
  const start = text.indexOf(':') + 1;
  const end = start + Number(text.slice(2, start - 1));
  return [text.slice(start, end), text.slice(end + 1)];
}

function part(label: string, text: string | undefined): string {
  return text === undefined ? '' : `${SEPARATOR}${label}${text.length}:${text}${SEPARATOR}`;
}

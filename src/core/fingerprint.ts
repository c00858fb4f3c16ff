import { hash } from 'node:crypto';

/**
 * The digest of what is asked: `v1:` and the lower-case hex SHA-256 of the parts, each with its
 * length before it, so that no two lists of parts are taken for one. Frozen by golden vectors.
 */
export function fingerprintOf(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += `${part.length}:${part}`;
  return `v1:${hash('sha256', text, 'hex')}`;
}

/** The digest of bytes, as a part of a fingerprint. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

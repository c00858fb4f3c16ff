import { hash } from 'node:crypto';
import type { Attempt } from './store.ts';

/**
 * The key that a handler forwards to the provider `name`. It hangs on nothing that another attempt
 * under the same record would not have, too. Frozen by golden vectors.
 */
export function downstreamKey(
  { recordKey, fingerprint }: Attempt,
  name: string,
  form: 'text' | 'uuid',
): string {
  const parts = [recordKey, fingerprint, name];
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  const digest = hash('sha256', `downstream v1 ${text}`, 'hex');
  return form === 'uuid' ? uuid(digest) : Buffer.from(digest, 'hex').toString('base64url');
}

/** Version 8 and the variant of RFC 9562, section 5.8; all other bits are the digest's. */
function uuid(digest: string): string {
  const variant = '89ab'[Number.parseInt(digest.charAt(16), 16) % 4];
  const third = `8${digest.slice(13, 16)}`;
  const fourth = `${variant}${digest.slice(17, 20)}`;
  return [digest.slice(0, 8), digest.slice(8, 12), third, fourth, digest.slice(20, 32)].join('-');
}

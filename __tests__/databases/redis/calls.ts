import { recordKeyDigest } from '../../../src/core/record-key.ts';
import type { SavedResponse } from '../../../src/core/saved-response.ts';
import type { Attempt, IdempotencyStore } from '../../../src/core/store.ts';
import { attemptOf, RESPONSE, within } from '../calls.ts';

/** The methods of a store in as few words as the tests need; the key is `k` unless it is said. */
export function callsOf(store: IdempotencyStore) {
  return {
    claim: (owner: string, { key = 'k', timeoutMs = 10_000, ...more }: CallWords = {}) =>
      store.claim(
        key,
        more.fingerprint ?? 'f',
        attemptOf(owner, { key, ...more }),
        within(timeoutMs),
      ),
    complete: (owner: string, { key = 'k', timeoutMs = 10_000, ...more }: CallWords = {}) => {
      const response = more.response ?? RESPONSE;
      return store.complete(key, response, attemptOf(owner, { key }), within(timeoutMs));
    },
    release: (owner: string, { key = 'k', timeoutMs = 10_000 }: CallWords = {}) =>
      store.release(key, attemptOf(owner, { key }), within(timeoutMs)),
  };
}

export interface CallWords extends Partial<Pick<Attempt, 'key' | 'fingerprint' | 'leaseMs'>> {
  readonly timeoutMs?: number;
  readonly response?: SavedResponse;
}

/** The names of the two keys of a record. */
export function keysOf(key = 'k', prefix = 'idempotent:') {
  const digest = recordKeyDigest(key).toString('base64url');
  return { state: `${prefix}r:{${digest}}`, body: `${prefix}b:{${digest}}` };
}

import type { SavedResponse } from '../../src/core/saved-response.ts';
import type { Attempt, IdempotencyStore, StoreCall } from '../../src/core/store.ts';

/** What these tests save: some bytes that are no text. */
export const RESPONSE: SavedResponse = {
  kept: true,
  status: 201,
  headers: [
    ['Content-Type', 'application/json'],
    ['ETag', '"label-901-v1"'],
  ],
  removedNames: [],
  body: Buffer.from([0, 255, 10, 13, 34]),
};

export function attemptOf(owner: string, more: Partial<Attempt> = {}): Attempt {
  return {
    key: 'k',
    recordKey: 'k',
    tenant: undefined,
    operation: 'POST /labels',
    fingerprint: 'f',
    owner,
    attempt: 1,
    signal: new AbortController().signal,
    ...more,
  };
}

export function within(timeoutMs = 10_000): StoreCall {
  return { signal: AbortSignal.timeout(timeoutMs), timeoutMs };
}

/** The methods of a store on key `k`, in as few words as the tests need. */
export function callsOf(store: IdempotencyStore) {
  return {
    claim: (owner: string, timeoutMs?: number, key = 'k') =>
      store.claim(key, 'f', attemptOf(owner), within(timeoutMs)),
    complete: (owner: string, timeoutMs?: number, key = 'k') =>
      store.complete(key, RESPONSE, attemptOf(owner), within(timeoutMs)),
    release: (owner: string, timeoutMs?: number, key = 'k') =>
      store.release(key, attemptOf(owner), within(timeoutMs)),
  };
}

/** What a call rejected with; the test fails when it did not. */
export async function failureOf(call: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await call;
  } catch (error) {
    return error as Error;
  }
  throw new Error('Expected a rejection, and the call resolved.');
}

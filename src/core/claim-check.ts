import { IdempotencyError } from './errors.ts';
import type { SavedResponse } from './saved-response.ts';
import type { Claim, IdempotencyStore } from './store.ts';

/**
 * Stores are written by many hands, and a wrong answer must never be taken for `new`.
 *
 * @throws {IdempotencyError} `store_answer_invalid` when `claim` is not one of the five answers.
 */
export function checkClaim(claim: unknown, store: IdempotencyStore): asserts claim is Claim {
  const { kind, attempt, response } = (claim ?? {}) as { [name in keyof AnyClaim]?: unknown };
  switch (kind) {
    case 'pending':
    case 'conflict':
    case 'expired':
      return;
    case 'new':
      if (Number.isSafeInteger(attempt) && (attempt as number) >= 1) return;
      throw invalid(store, 'Expected `new` to carry an attempt number from 1, got none');
    case 'replay':
      if (isSavedResponse(response)) return;
      throw invalid(store, 'Expected `replay` to carry a saved response, got something else');
    default:
      throw invalid(store, 'Expected claim to answer new, pending, replay, conflict or expired');
  }
}

interface AnyClaim {
  readonly kind: string;
  readonly attempt: number;
  readonly response: SavedResponse;
}

/** Whether it has the shape of one; whether HTTP can carry it is seen when it is sent. */
export function isSavedResponse(value: unknown): value is SavedResponse {
  const { kept, status, headers, removedNames, body } = (value ?? {}) as Record<string, unknown>;
  if (!Number.isInteger(status)) return false;
  if (kept === false) return true;
  if (kept !== true || !Array.isArray(headers) || !isStrings(removedNames)) return false;
  return headers.every((line) => isStrings(line) && line.length >= 2) && ArrayBuffer.isView(body);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function invalid(store: IdempotencyStore, what: string): IdempotencyError {
  return new IdempotencyError(
    'store_answer_invalid',
    `${what} from ${nameOf(store)}. Hold the store to the contract in express-idempotent/testing.`,
  );
}

/** The class of the store, for messages. */
export function nameOf(store: IdempotencyStore): string {
  return store.constructor?.name || 'the store';
}

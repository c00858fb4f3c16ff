/** An answer of the middleware itself: exactly these bytes, as `application/json`. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** The value of `Retry-After`, for refusals that pass by themselves. */
  readonly retryAfterSeconds?: number;
}

/** Our own answers, as data: one for each way a request can end without its handler's answer. */
export interface Profile {
  readonly keyMissing: Answer;
  readonly keyInvalid: Answer;
  readonly pending: Answer;
  readonly conflict: Answer;
  readonly expired: Answer;
  readonly notKept: Answer;
  /** Its first attempt went quiet, nobody can tell what it did, and the key was ended so. */
  readonly outcomeUnknown: Answer;
  readonly storeUnavailable: Answer;
  readonly outcomeNotSaved: Answer;
  /** `admit` refused: too many requests. */
  readonly refused429: Answer;
  /** `admit` refused, or did not answer in time: not now. */
  readonly refused503: Answer;
}

const RETRY_AFTER_SECONDS = 2;

/** The default profile. */
export const STRICT: Profile = {
  keyMissing: says(400, 'idempotency_key_missing'),
  keyInvalid: says(400, 'idempotency_key_invalid'),
  pending: says(409, 'request_pending'),
  conflict: says(409, 'idempotency_conflict'),
  expired: says(409, 'idempotency_result_expired'),
  notKept: says(409, 'response_not_kept'),
  outcomeUnknown: says(409, 'outcome_unknown'),
  storeUnavailable: saysLater(503, 'store_unavailable'),
  outcomeNotSaved: saysLater(503, 'outcome_not_saved'),
  refused429: saysLater(429, 'not_admitted'),
  refused503: saysLater(503, 'not_admitted'),
};

function says(status: number, error: string): Answer {
  return { status, body: `{"error":"${error}"}` };
}

function saysLater(status: number, error: string): Answer {
  return { ...says(status, error), retryAfterSeconds: RETRY_AFTER_SECONDS };
}

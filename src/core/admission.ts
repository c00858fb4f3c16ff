import type { AttemptSettings } from './attempt-settings.ts';
import { LATE, withDeadline } from './deadline.ts';
import { IdempotencyError } from './errors.ts';
import type { Attempt } from './store.ts';

/** `0` lets the handler run; 429 and 503 refuse. */
export type AdmitAnswer = 0 | 429 | 503;

/**
 * Asks `admit`, once. Late counts as 503; without `admit` everybody is admitted.
 *
 * @throws what `admit` throws, and `admit_invalid` for any other answer.
 */
export async function askAdmit(
  context: Attempt,
  { runtime, admitTimeoutMs }: AttemptSettings,
  admit?: (context: Attempt) => unknown,
): Promise<AdmitAnswer> {
  if (admit === undefined) return 0;
  const answer = await withDeadline(runtime, admitTimeoutMs, () => admit(context));
  if (answer === LATE) return 503;
  if (answer === 0 || answer === 429 || answer === 503) return answer;
  const got = typeof answer === 'number' ? String(answer) : typeof answer;
  throw new IdempotencyError(
    'admit_invalid',
    `Expected admit to answer 0, 429 or 503, got ${got}. Return 0 to let the handler run.`,
  );
}

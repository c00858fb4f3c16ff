import type { AttemptContext } from './attempt-context.ts';
import { type AttemptSettings, callStore } from './attempt-settings.ts';
import { checkClaim } from './claim-check.ts';
import { IdempotencyError, provesNothingApplied } from './errors.ts';
import { publish } from './events.ts';
import type { Claim } from './store.ts';

/** What a claim comes to: the store's answer, or that there was none. */
export type ClaimAnswer = Claim | { readonly kind: 'unavailable' };

/**
 * Asks the store for the key of this attempt. When it does not say, `giveBackLater` is told: the
 * claim may have been applied, or be applied later.
 *
 * @throws what the store rejected with, `store_timeout`, `store_answer_invalid`.
 */
export async function askForKey(
  context: AttemptContext,
  settings: AttemptSettings,
  giveBackLater: (sent: unknown) => void,
): Promise<Claim> {
  const { store } = settings;
  let sent: unknown;
  try {
    const claim = await callStore(settings, (call) => {
      const answer = store.claim(context.recordKey, context.fingerprint, context, call);
      sent = answer;
      return answer;
    });
    checkClaim(claim, store);
    return claim;
  } catch (error) {
    publish('claim-failed', context, { error });
    const code = error instanceof IdempotencyError ? error.code : undefined;
    if (!provesNothingApplied(code)) giveBackLater(sent);
    throw error;
  }
}

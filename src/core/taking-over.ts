import type { AttemptContext } from './attempt-context.ts';
import { type AttemptSettings, callStore } from './attempt-settings.ts';
import { LATE, withDeadline } from './deadline.ts';
import { IdempotencyError } from './errors.ts';
import { publish } from './events.ts';
import { recordReference } from './record-key.ts';
import type { Recovery, SealedRecovery } from './recovery.ts';
import type { Settlement, TakeOver } from './recovery-capabilities.ts';
import type { Runtime } from './runtime.ts';
import type { SavedResponse } from './saved-response.ts';
import type { Saving } from './saving.ts';
import { isSendable } from './sendable.ts';
import type { Claim } from './store.ts';

/** What taking over asks of its attempt. */
export interface Taker {
  taken(attempt: number): void;
  giveBack(): Promise<void>;
  giveBackLater(sent: unknown): void;
  /** The key stays what the claim said it is. */
  told(): Claim;
  complete(response: SavedResponse): Promise<Saving>;
}

/**
 * Takes a pending key over whose lease has ended, if it has, and does with it what the mode allows:
 * `new` lets the handler run under the next number, `replay` is the answer that the key was ended
 * with, `pending` leaves it. No other way leads from the end of a lease to a second run.
 */
export async function takeOver(
  context: AttemptContext,
  settings: AttemptSettings,
  recovery: Recovery,
  taker: Taker,
): Promise<Claim | { readonly kind: 'unavailable' }> {
  const taken = await ask(context, settings, recovery, taker);
  if (taken.kind !== 'taken') return taker.told();
  taker.taken(taken.attempt);
  const found = await recovered(context, settings, recovery);
  switch (found?.kind) {
    case 'never-started':
      return { kind: 'new', attempt: taken.attempt };
    case 'done':
      return endAs(found.response, taker);
    case 'unknown':
    case undefined:
      await taker.giveBack();
      return taker.told();
    /* istanbul ignore next -- an outcome of another kind is an error before it comes here */
    default:
      return found satisfies never;
  }
}

async function ask(
  context: AttemptContext,
  settings: AttemptSettings,
  recovery: Recovery,
  taker: Taker,
): Promise<TakeOver> {
  const { store } = settings;
  const { recordKey, fingerprint } = context;
  const options = recovery.mode === 'keyed' ? { withinMs: recovery.rerunWithinMs } : {};
  let sent: unknown;
  try {
    const answer = await callStore(settings, (call) => {
      const taking = store.takeOver?.(recordKey, fingerprint, context, options, call);
      sent = taking;
      return taking;
    });
    return checked(answer);
  } catch (error) {
    publish('claim-failed', context, { error });
    taker.giveBackLater(sent);
    throw error;
  }
}

/** What the mode says of the attempt that went quiet; `undefined` when it cannot be known. */
async function recovered(
  context: AttemptContext,
  { runtime }: AttemptSettings,
  recovery: Recovery,
): Promise<Settlement | undefined> {
  try {
    switch (recovery.mode) {
      // Whatever it has done, another run does not do it twice.
      case 'keyed':
      case 'transactional':
        return { kind: 'never-started' };
      case 'blind': {
        const response = recovery.abandoned?.(recordReference(context.recordKey));
        return response && { kind: 'done', response };
      }
      case 'sealed':
        return await recoveredBy(recovery, context, runtime);
      /* istanbul ignore next -- a mode of another name is refused when the middleware is built */
      default:
        return recovery satisfies never;
    }
  } catch (error) {
    publish('recover-failed', context, { error });
    return undefined;
  }
}

async function recoveredBy(
  { recover, recoverTimeoutMs }: SealedRecovery,
  context: AttemptContext,
  runtime: Runtime,
): Promise<Settlement> {
  const found = await withDeadline(runtime, recoverTimeoutMs, () => recover(context));
  if (found === LATE) throw new Error(`recover did not answer within ${recoverTimeoutMs} ms.`);
  if (found?.kind === 'unknown' || found?.kind === 'never-started') return found;
  if (found?.kind === 'done' && isSendable(found.response)) return found;
  throw new Error('Expected recover to answer done(…), neverStarted() or unknown().');
}

async function endAs(
  response: SavedResponse,
  taker: Taker,
): Promise<Claim | { readonly kind: 'unavailable' }> {
  const saving = await taker.complete(response);
  if (saving.kind === 'saved') return { kind: 'replay', response };
  return saving.kind === 'superseded' ? taker.told() : { kind: 'unavailable' };
}

function checked(answer: TakeOver | undefined): TakeOver {
  const { kind, attempt } = (answer ?? {}) as { kind?: unknown; attempt?: unknown };
  const isTaken = kind === 'taken' && Number.isSafeInteger(attempt) && (attempt as number) > 1;
  if (isTaken || kind === 'too-late' || kind === 'not-taken') return answer as TakeOver;
  throw new IdempotencyError(
    'store_answer_invalid',
    'Expected takeOver to answer taken with a number from 2, too-late or not-taken, got ' +
      'something else. Hold the store to the contract in express-idempotent/testing.',
  );
}

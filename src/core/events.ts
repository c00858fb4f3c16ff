import { type Channel, channel } from 'node:diagnostics_channel';
import { recordKeyDigest } from './record-key.ts';
import type { SettlementAudit } from './settlement-audit.ts';
import type { Attempt } from './store.ts';

/**
 * What can be observed, each on the channel `express-idempotent:<name>` of
 * `node:diagnostics_channel`. Nothing is computed while nobody listens.
 */
export const EVENTS = {
  claimed: 'A new reservation; the handler may run.',
  replayed: 'A retry was given the saved response.',
  pending: 'A retry came while the first attempt is not finished, or its outcome is not known.',
  conflict: 'The key was used before with another request.',
  expired: 'The key was used before, and its saved response is gone.',
  'claim-failed': 'The store did not say whether the key is free; the handler did not run.',
  refused: '`admit` refused before the handler ran.',
  completed: 'The response is saved, and leaves.',
  'not-kept': 'The response is too large to keep; the action is done and is never repeated.',
  'left-pending': 'The handler ended without an outcome; the key stays pending.',
  'taken-over': 'A key whose attempt went quiet was taken over by this one.',
  'recover-failed': '`recover` threw, was late or answered nonsense; the key stays pending.',
  'transaction-failed': 'No transaction was to be had; the handler did not run.',
  'rollback-failed': 'A rollback was not acknowledged; the key stays pending until its lease ends.',
  'renew-failed': 'One sign of life did not reach the store; the next one is given in time.',
  'lease-ended': 'The handler has not answered for `maxRunMs`: its lease is not renewed any more.',
  superseded: 'Another attempt owns the record now; this answer was not sent.',
  'save-failed': 'One try to save the response failed; it is tried again.',
  unsaved: 'The client was told that its outcome is not saved; saving goes on.',
  released: 'The reservation was given back; the key is free.',
  'release-failed': 'One try to give the reservation back failed; it is tried again.',
  'gave-up': 'Saving or releasing was tried for its longest time, and is given up.',
  settled: 'An operator has ended a pending record; `settlement` says who, how and why.',
  anomaly: 'The response was used in a way worth a look; `detail` names it.',
} as const;

/** The short name of an event: a name of {@link EVENTS}. */
export type EventName = keyof typeof EVENTS;

/** The message of every channel. It holds no key, no body and no header value. */
export interface IdempotencyEvent {
  readonly name: EventName;
  /** SHA-256 of the record key, in hex: what stores keep the record under. */
  readonly recordId: string;
  readonly operation: string | undefined;
  readonly attempt: number;
  /** What went wrong, where something did: a store's own error, as it came. */
  readonly error?: unknown;
  /** The status of the handler's answer, or of ours. */
  readonly status?: number;
  readonly detail?: string;
  /** How an operator ended the record: words of the operator, who may have written anything. */
  readonly settlement?: SettlementAudit;
}

type Detail = Pick<IdempotencyEvent, 'error' | 'status' | 'detail' | 'settlement'>;

const CHANNELS = Object.fromEntries(
  Object.keys(EVENTS).map((name) => [name, channel(`express-idempotent:${name}`)]),
) as Record<EventName, Channel>;

/** Tells listeners, if there are any. */
export function publish(
  name: EventName,
  attempt: Pick<Attempt, 'recordKey' | 'operation' | 'attempt'>,
  detail?: Detail,
): void {
  const to = CHANNELS[name];
  if (!to.hasSubscribers) return;
  to.publish({
    name,
    recordId: recordKeyDigest(attempt.recordKey).toString('hex'),
    operation: attempt.operation,
    attempt: attempt.attempt,
    ...detail,
  } satisfies IdempotencyEvent);
}

import { withDeadline } from './deadline.ts';
import { IdempotencyError } from './errors.ts';
import type { Recovery } from './recovery.ts';
import type { RenewCapability, TakeOverCapability } from './recovery-capabilities.ts';
import type { Runtime } from './runtime.ts';
import type { IdempotencyStore, InspectCapability, StoreCall } from './store.ts';
import type { CommitSyncCapability, CompleteInCapability } from './transaction.ts';

/** A store with what it may offer besides the three verbs to the attempts that use it. */
export type AttemptStore = IdempotencyStore &
  Partial<
    InspectCapability &
      RenewCapability &
      TakeOverCapability &
      CompleteInCapability &
      CommitSyncCapability<unknown>
  >;

/** What all attempts of one middleware have in common. */
export interface AttemptSettings {
  readonly store: AttemptStore;
  readonly runtime: Runtime;
  /** The deadline of one claim, one release, one try to save. */
  readonly storeTimeoutMs: number;
  readonly admitTimeoutMs: number;
  /** All tries to save, before the client is told that its outcome is not saved. */
  readonly saveTimeoutMs: number;
  /** What may become of a key that was left behind. Without it nothing does. */
  readonly recovery?: Recovery;
  /** Is given why the store did not say whether a key is free, when the request is answered 503. */
  readonly warnOfClaim?: (error: unknown) => void;
}

/** One call of the store: it rejects with `store_timeout` when it is not answered in time. */
export function callStore<T>(
  { runtime, storeTimeoutMs }: AttemptSettings,
  start: (call: StoreCall) => T | PromiseLike<T>,
  timeoutMs: number = Number.POSITIVE_INFINITY,
): Promise<T> {
  const limitMs = Math.max(1, Math.min(storeTimeoutMs, Math.ceil(timeoutMs)));
  return withDeadline(runtime, limitMs, start, storeTooLate) as Promise<T>;
}

function storeTooLate(limitMs: number): IdempotencyError {
  return new IdempotencyError('store_timeout', `The store did not answer within ${limitMs} ms.`);
}

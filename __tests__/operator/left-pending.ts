import { type RecordKeyParts, recordKey } from '../../src/core/record-key.ts';
import type { Attempt } from '../../src/core/store.ts';
import { attemptOf, callOf } from '../../src/testing/contract-scene.ts';
import type { StoreUnderTest } from '../../src/testing/index.ts';

/** What a test says of a record that an attempt leaves pending. */
export interface Left extends Partial<RecordKeyParts> {
  readonly key: string;
  readonly owner?: string;
  readonly leaseMs?: number;
}

/** The context of the attempt, with the record key that the middleware would make. */
export function leftBy({ tenant, operation, key, owner = 'A', leaseMs }: Left): Attempt {
  const identity = { tenant, operation, key, recordKey: recordKey(tenant, operation, key) };
  return { ...attemptOf(owner), ...identity, leaseMs };
}

/** Claims a key and does no more: a process that was killed. Answers the record key. */
export async function leavePending(store: StoreUnderTest, left: Left): Promise<string> {
  const context = leftBy(left);
  await store.claim(context.recordKey, 'f', context, callOf());
  return context.recordKey;
}

/** Another attempt takes over what is left, once its lease is over, and dies too. */
export async function takeOver(store: StoreUnderTest, left: Left): Promise<number | undefined> {
  const context = leftBy(left);
  const taken = await store.takeOver?.(context.recordKey, 'f', context, {}, callOf());
  return taken?.kind === 'taken' ? taken.attempt : undefined;
}

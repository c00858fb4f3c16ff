import { nameOf } from '../core/claim-check.ts';
import { IdempotencyError } from '../core/errors.ts';
import type { SettleCapability } from '../core/recovery-capabilities.ts';
import type {
  IdempotencyStore,
  InspectCapability,
  ListCapability,
  PruneCapability,
} from '../core/store.ts';

type Offers = InspectCapability & ListCapability & PruneCapability & SettleCapability;

/**
 * The store as one that has these capabilities.
 *
 * @throws {IdempotencyError} `capability_missing` when it lacks one of them.
 */
export function offering<Name extends keyof Offers>(
  store: IdempotencyStore,
  ...names: readonly Name[]
): Pick<Offers, Name> {
  const offers = (store ?? {}) as Partial<Offers>;
  const missing = names.filter((name) => typeof offers[name] !== 'function');
  if (missing.length === 0) return offers as Pick<Offers, Name>;
  const name = nameOf(offers as IdempotencyStore);
  throw new IdempotencyError(
    'capability_missing',
    `Expected a store that offers ${names.join(' and ')}, but ${name} has no ` +
      `${missing.join(' and no ')}. See docs/operator.md.`,
  );
}

import { CAPABILITY_RULES } from './contract-capabilities.ts';
import type { StoreContractCase } from './contract-case.ts';
import { CLAIM_RULES } from './contract-claim.ts';
import { COPY_RULES } from './contract-copies.ts';
import { FAULT_RULES } from './contract-faults.ts';
import { FORMAT_RULES } from './contract-format.ts';
import { KEY_RULES } from './contract-keys.ts';
import { LEASE_RULES } from './contract-leases.ts';
import { OWNERSHIP_RULES } from './contract-ownership.ts';
import { PARALLEL_RULES } from './contract-parallel.ts';
import { RETENTION_RULES } from './contract-retention.ts';
import { SETTLE_RULES } from './contract-settle.ts';

/**
 * What every store is held to: rules as data, with a check each, bound to no test runner. A check
 * resolves or rejects with an `AssertionError`. Each one begins with an empty database.
 *
 * A rule that needs what a store does not offer is refused, not passed: ask {@link lackingNeeds}
 * first, and report what goes unchecked.
 *
 * @example
 * ```ts
 * for (const { rule, check } of STORE_CONTRACT) {
 *   test(rule, async () => {
 *     const clock = new SettableClock();
 *     const store = new MemoryStore({ now: clock.now });
 *     await check(async () => store, clock);
 *   });
 * }
 * ```
 */
export const STORE_CONTRACT: readonly StoreContractCase[] = [
  ...CLAIM_RULES,
  ...OWNERSHIP_RULES,
  ...COPY_RULES,
  ...KEY_RULES,
  ...RETENTION_RULES,
  ...FAULT_RULES,
  ...PARALLEL_RULES,
  ...LEASE_RULES,
  ...SETTLE_RULES,
  ...FORMAT_RULES,
  ...CAPABILITY_RULES,
];

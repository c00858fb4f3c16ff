import assert from 'node:assert/strict';
import type {
  RenewCapability,
  SettleCapability,
  TakeOverCapability,
} from '../core/recovery-capabilities.ts';
import type {
  IdempotencyStore,
  InspectCapability,
  ListCapability,
  PruneCapability,
} from '../core/store.ts';

/** A store with whatever capabilities it has. */
export type StoreUnderTest = IdempotencyStore &
  Partial<InspectCapability & ListCapability & PruneCapability> &
  Partial<RenewCapability & TakeOverCapability & SettleCapability>;

/**
 * Opens one more connection to one database: the first call finds it empty and migrated, later
 * ones see what the others wrote. A store that has no connections answers the same store again.
 * The store must go by the clock of the case, and keep the default retention. Whoever makes the
 * stores closes them after the case.
 */
export interface MakeStore {
  (): Promise<StoreUnderTest>;
  /**
   * Puts a head (as `encodeHead` makes it) and a body in place of those of the completed record
   * under `key`, past the store. Without it the rules about unreadable records are not checked.
   */
  readonly overwriteSaved?: (key: string, head: string, body: Uint8Array) => Promise<void>;
}

/** The clock that the stores of a case go by. */
export interface ContractClock {
  now(): number;
  advance(ms: number): void | Promise<void>;
}

/** What a rule needs beyond the three required methods. */
export type ContractNeed =
  | 'inspect'
  | 'list'
  | 'prune'
  | 'renew'
  | 'takeOver'
  | 'settle'
  | 'overwriteSaved';

/** One rule of the store contract, and how to check it. */
export interface StoreContractCase {
  /** What every store does. */
  readonly rule: string;
  /** Offers of the store or of its runner without which the rule cannot be checked. */
  readonly needs: readonly ContractNeed[];
  /** Rejects with an `AssertionError` when the rule is broken, or when a need is not there. */
  readonly check: (makeStore: MakeStore, clock: ContractClock) => Promise<void>;
}

/** The needs that are not there: each is to be reported, with the rules that go unchecked. */
export async function lackingNeeds(makeStore: MakeStore): Promise<readonly ContractNeed[]> {
  const store = await makeStore();
  return ALL_NEEDS.filter(
    (need) => typeof (offerOf(store, makeStore)[need] ?? undefined) !== 'function',
  );
}

/** A case that is refused, rather than passed, on a store that lacks what it needs. */
export function contractCase(
  rule: string,
  needs: readonly ContractNeed[],
  check: StoreContractCase['check'],
): StoreContractCase {
  return {
    rule,
    needs,
    check: async (makeStore, clock) => {
      if (needs.length > 0) {
        const lacking = await lackingNeeds(makeStore);
        const missing = needs.filter((need) => lacking.includes(need));
        assert.deepEqual(missing, [], `not checked, because ${missing.join(', ')} is not offered`);
      }
      await check(makeStore, clock);
    },
  };
}

const ALL_NEEDS: readonly ContractNeed[] = [
  'inspect',
  'list',
  'prune',
  'renew',
  'takeOver',
  'settle',
  'overwriteSaved',
];

function offerOf(
  store: StoreUnderTest,
  makeStore: MakeStore,
): { readonly [need in ContractNeed]?: unknown } {
  const { inspect, list, prune, renew, takeOver, settle } = store;
  const { overwriteSaved } = makeStore;
  return { inspect, list, prune, renew, takeOver, settle, overwriteSaved };
}

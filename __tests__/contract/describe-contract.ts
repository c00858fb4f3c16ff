import {
  type ContractNeed,
  lackingNeeds,
  type MakeStore,
  SettableClock,
  STORE_CONTRACT,
} from '../../src/testing/index.ts';

/** One empty database, and the way to open stores on it. */
export interface ContractDatabase {
  readonly makeStore: MakeStore;
  close(): Promise<void>;
}

/**
 * Runs the store contract with jest. What the store lacks is named here by hand, so that a store
 * which stops offering something fails; rules that need it are reported as not checked.
 */
export function describeContract(
  name: string,
  lacks: readonly ContractNeed[],
  open: (clock: SettableClock) => Promise<ContractDatabase>,
): void {
  async function setup() {
    const clock = new SettableClock();
    return { clock, ...(await open(clock)) };
  }

  describe(name, () => {
    test(`lacks ${lacks.join(', ') || 'nothing that a rule needs'}`, async () => {
      const { makeStore, close } = await setup();
      expect(await lackingNeeds(makeStore)).toEqual(lacks);
      await close();
    });

    for (const { rule, needs, check } of STORE_CONTRACT) {
      const missing = needs.filter((need) => lacks.includes(need));
      if (missing.length === 0) {
        test(rule, async () => {
          const { makeStore, clock, close } = await setup();
          try {
            await check(makeStore, clock);
          } finally {
            await close();
          }
        }, 60_000);
      } else {
        test(`not checked, for want of ${missing.join(', ')}: ${rule}`, async () => {
          const { makeStore, clock, close } = await setup();
          await expect(check(makeStore, clock)).rejects.toThrow('not checked');
          await close();
        });
      }
    }
  });
}

import { describeContract } from '../describe-contract.ts';
import { contractDatabase } from './database.ts';
import type { SqliteDriver } from './driver.ts';
import { OPENING_TESTS } from './opening-tests.ts';
import { PROCESS_TESTS } from './process-tests.ts';
import { TRANSACTION_TESTS } from './transaction-tests.ts';

/** Promises of the SQLite store, and how each is checked on a driver. */
export type SqliteTests = { readonly [promise: string]: (driver: SqliteDriver) => Promise<void> };

const GROUPS: { readonly [what: string]: SqliteTests } = {
  'opening a file': OPENING_TESTS,
  transactions: TRANSACTION_TESTS,
  'several processes on one file': PROCESS_TESTS,
};

/** The store contract, and what is SQLite's own, on one driver. */
export function describeSqlite(driver: SqliteDriver): void {
  const lacks = [] as const;
  describeContract(`SqliteStore on ${driver.name}`, lacks, (clock) =>
    contractDatabase(driver, clock),
  );
  for (const [what, tests] of Object.entries(GROUPS)) {
    describe(`${what}, on ${driver.name}`, () => {
      for (const [promise, check] of Object.entries(tests)) {
        test(promise, () => check(driver), 120_000);
      }
    });
  }
}

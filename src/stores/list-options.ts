import { checkOptions, milliseconds, wholeNumber } from '../core/option-check.ts';
import type { ListOptions } from '../core/store.ts';

/**
 * `isPosition` tells what a page of this store may have answered as `after`.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function checkListOptions(
  options: ListOptions,
  isPosition: (after: string) => boolean,
): void {
  checkOptions<ListOptions>(LIST, options, {
    state: A_STATE,
    olderThanMs: milliseconds(0, OLDEST_MS),
    limit: wholeNumber(1, 1_000),
    after: {
      expected: 'what the page before answered as `after`',
      holds: (value) => typeof value === 'string' && isPosition(value),
    },
  });
}

const LIST = { name: 'list(…)', page: 'docs/operator.md' };
/** Some 30 years: no database of ours counts back any further without an error. */
const OLDEST_MS = 1e12;
const STATES: readonly unknown[] = ['pending', 'completed', 'tombstone'];

const A_STATE = {
  expected: "'pending', 'completed' or 'tombstone'",
  holds: (value: unknown) => STATES.includes(value),
};

import { IdempotencyError } from './errors.ts';

/** @throws {IdempotencyError} `option_invalid`, with what was expected and what came. */
export function check(name: string, isRight: boolean, got: unknown, expected: string): void {
  if (isRight) return;
  const what = name === 'options' ? name : `the option \`${name}\``;
  throw new IdempotencyError(
    'option_invalid',
    `Expected ${what} to be ${expected}, got ${kindOf(got)}. See docs/options.md.`,
  );
}

/**
 * The same for what a handler gives at request time, of which no word is shown: it may be a body.
 *
 * @throws {IdempotencyError} `option_invalid`
 */
export function checkArgument(
  call: string,
  isRight: boolean,
  got: unknown,
  expected: string,
): void {
  if (isRight) return;
  const what = typeof got === 'string' ? 'a string' : kindOf(got);
  throw new IdempotencyError(
    'option_invalid',
    `Expected ${call} to be given ${expected}, got ${what}. See docs/recovery.md.`,
  );
}

/** The longest delay of a timer in Node; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;
const WHOLE_MS = 'a whole number of milliseconds';

/** @throws {IdempotencyError} `option_invalid` when no timer of Node can wait so long. */
export function checkMs(name: string, ms: unknown, leastMs = 1): void {
  const isTimer = Number.isInteger(ms) && Number(ms) >= leastMs && Number(ms) <= LONGEST_TIMER_MS;
  check(name, isTimer, ms, `${WHOLE_MS} from ${leastMs} to ${LONGEST_TIMER_MS}`);
}

/** What a value is, in a word, and never what it holds unless it is short and of the caller's. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value;
}

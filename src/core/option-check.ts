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

/** What a value is, in a word, and never what it holds unless it is short and of the caller's. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value;
}

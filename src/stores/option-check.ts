import { IdempotencyError } from '../core/errors.ts';

/** What an option must be, in words, and the test for it. */
export interface OptionRule {
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

/**
 * Refuses an option that is unknown or is not what it must be, while the store is built.
 * `undefined` counts as not given. `rules` is typed by the options themselves, so that an option
 * without a rule does not compile.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  rules: { readonly [Name in keyof Required<Options>]: OptionRule },
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(`${owner}: expected an object of options, got ${typeName(options)}.`);
  }
  const known = Object.keys(rules);
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) {
      throw invalid(`${owner}: unknown option "${name}". Known options: ${known.join(', ')}.`);
    }
    const rule = rules[name as keyof Options];
    if (value !== undefined && !rule.holds(value)) {
      const got = typeof value === 'number' ? String(value) : typeName(value);
      throw invalid(`${owner}: option "${name}" must be ${rule.expected}, got ${got}.`);
    }
  }
}

/** A whole number from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum: number, unit = ''): OptionRule {
  return {
    expected: `a whole number${unit} from ${minimum} to ${maximum}`,
    holds: (value) => Number.isInteger(value) && isBetween(value as number, minimum, maximum),
  };
}

export const A_FUNCTION: OptionRule = {
  expected: 'a function',
  holds: (value) => typeof value === 'function',
};

function isBetween(value: number, minimum: number, maximum: number): boolean {
  return value >= minimum && value <= maximum;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

function invalid(message: string): IdempotencyError {
  return new IdempotencyError('option_invalid', message);
}

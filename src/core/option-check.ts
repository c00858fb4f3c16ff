import { IdempotencyError } from './errors.ts';
import { nearestName } from './nearest-name.ts';

/** What an option must be, in words, and the test for it. */
export interface OptionRule {
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
  /** `undefined` counts as not given; this one must be given. */
  readonly isRequired?: true;
  /** A text in its place may be a key or hold a password, and is not shown. */
  readonly isSecret?: true;
}

/** Whose options they are, and the page that says more. */
export interface OptionOwner {
  readonly name: string;
  readonly page: string;
}

/**
 * Refuses an option that is unknown or is not what it must be, when its owner is built. `rules` is
 * typed by the options themselves, so that an option without a rule does not compile.
 *
 * @throws {IdempotencyError} `option_invalid`: what was expected, what came, how to mend it.
 */
export function checkOptions<Options extends object>(
  owner: OptionOwner,
  options: Options,
  rules: { readonly [Name in keyof Required<Options>]: OptionRule },
): void {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  checkArgument(owner, isObject, options, 'an object of options');
  checkNames(owner, options, Object.keys(rules));
  for (const [name, rule] of Object.entries<OptionRule>(rules)) {
    const value: unknown = (options as Record<string, unknown>)[name];
    if (value === undefined && rule.isRequired === undefined) continue;
    if (rule.holds(value)) continue;
    const got = rule.isSecret ? kindOf(value) : shown(value);
    throw invalidOption(owner, name, rule.expected, got);
  }
}

/** @throws {IdempotencyError} `option_invalid`, when an argument of `owner` is not right. */
export function checkArgument(
  owner: OptionOwner,
  isRight: boolean,
  got: unknown,
  expected: string,
): void {
  if (isRight) return;
  throw invalid(`Expected ${owner.name} to be given ${expected}, got ${kindOf(got)}.`, owner);
}

/** The error of one option. `got` is what came, in words, and may say more. */
export function invalidOption(
  owner: OptionOwner,
  name: string,
  expected: string,
  got: string,
): IdempotencyError {
  return invalid(
    `Expected the option \`${name}\` of ${owner.name} to be ${expected}, got ${got}.`,
    owner,
  );
}

/** A whole number from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum: number, unit = ''): OptionRule {
  return {
    expected: `a whole number${unit} from ${minimum} to ${maximum}`,
    holds: (value) =>
      Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  };
}

/** The longest delay of a timer in Node; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** A time that a timer of Node can wait. */
export function milliseconds(minimum = 1, maximum: number = LONGEST_TIMER_MS): OptionRule {
  return wholeNumber(minimum, maximum, ' of milliseconds');
}

export const A_FUNCTION: OptionRule = {
  expected: 'a function',
  holds: (value) => typeof value === 'function',
};

export const A_BOOLEAN: OptionRule = {
  expected: 'true or false',
  holds: (value) => typeof value === 'boolean',
};

/** What a value is, in a word, and not what it holds: a text may be an address with a password. */
export function kindOf(value: unknown): string {
  return typeof value === 'string' ? 'a string' : shown(value);
}

function shown(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value;
}

function checkNames(owner: OptionOwner, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  const [first] = unknown;
  if (first === undefined) return;
  const kind = classOf(options);
  if (kind !== undefined && known.includes('client')) {
    throw invalid(
      `Expected ${owner.name} to be given { client }, got the ${kind} itself. ` +
        `Write new ${owner.name}({ client: … }).`,
      owner,
    );
  }
  const got = unknown.map((name) => `\`${name}\``).join(', ');
  const near = nearestName(first, known);
  const guess = near === undefined ? '' : ` Did you mean \`${near}\`?`;
  throw invalid(
    `Expected known options of ${owner.name}, got ${got}.${guess} Known are ${known.join(', ')}.`,
    owner,
  );
}

/** The name of its class, unless it is a plain object. */
function classOf(value: object): string | undefined {
  const name = value.constructor?.name;
  return name === undefined || name === 'Object' ? undefined : name;
}

function invalid(sentences: string, { page }: OptionOwner): IdempotencyError {
  return new IdempotencyError('option_invalid', `${sentences} See ${page}.`);
}

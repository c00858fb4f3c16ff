import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { nearestName } from '../core/nearest-name.ts';

/** What the command line can be asked to do. */
export const COMMAND_NAMES = ['pending', 'list', 'show', 'settle', 'prune'] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** The options of a command, as they were given. */
export type GivenOptions = Readonly<
  Record<string, string | boolean | (string | boolean)[] | undefined>
>;

/** Reads the options that the command has. Throws a sentence, which holds no value. */
export function parseOptions(
  name: CommandName,
  args: readonly string[],
): { readonly given: GivenOptions; readonly positionals: readonly string[] } {
  const options = { ...ON_STORE, ...OPTIONS[name] };
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { given: values as GivenOptions, positionals };
  } catch (error) {
    throw new Error(unparsed(error as Error, Object.keys(options)));
  }
}

/** What Node says of it, and a guess at what was meant in place of Node's advice. */
function unparsed({ message }: Error, known: readonly string[]): string {
  const [sentence = message] = message.split(/\.\s/);
  const [, unknown] = /^Unknown option '--([^']*)'/.exec(sentence) ?? [];
  const near = unknown === undefined ? undefined : nearestName(unknown, known);
  return `${sentence}.${near === undefined ? '' : ` Did you mean --${near}?`}`;
}

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const ON_STORE = { store: TEXT, table: TEXT, schema: TEXT, prefix: TEXT, json: FLAG } as const;
const RECORD = { tenant: TEXT, operation: TEXT, key: TEXT } as const;
const OPTIONS: { readonly [name in CommandName]: ParseArgsOptionsConfig } = {
  pending: { 'older-than': TEXT, limit: TEXT },
  list: { 'older-than': TEXT, limit: TEXT, state: TEXT },
  show: { ...RECORD, headers: FLAG, body: FLAG },
  settle: {
    ...RECORD,
    done: TEXT,
    'never-started': FLAG,
    unknown: FLAG,
    'body-file': TEXT,
    'content-type': TEXT,
    header: { type: 'string', multiple: true },
    reason: TEXT,
    by: TEXT,
    force: FLAG,
  },
  prune: { 'batch-size': TEXT },
};

export function isCommandName(name: string): name is CommandName {
  return (COMMAND_NAMES as readonly string[]).includes(name);
}

/** Those of these options that were given. */
export function textsOf<Name extends string>(
  given: GivenOptions,
  names: readonly Name[],
): { readonly [name in Name]?: string } {
  const texts = names.flatMap((name) => {
    const text = given[name];
    return typeof text === 'string' ? [[name, text] as const] : [];
  });
  return Object.fromEntries(texts) as { readonly [name in Name]?: string };
}

export function wholeNumber(given: GivenOptions, name: string, usual: number): number {
  const text = given[name];
  if (text === undefined) return usual;
  if (typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`Expected --${name} to be a whole number from 1.`);
}

export function durationMs(given: GivenOptions, name: string): number {
  const text = given[name];
  if (text === undefined) return 0;
  const [, count, unit] = DURATION.exec(String(text)) ?? [];
  const unitMs = UNIT_MS[unit ?? ''];
  if (unitMs !== undefined) return Number(count) * unitMs;
  throw new Error(`Expected --${name} to be a time such as 90s, 15min, 2h or 3d.`);
}

const DURATION = /^(\d{1,9})(s|min|h|d)$/;
const UNIT_MS: { readonly [unit: string]: number | undefined } = {
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

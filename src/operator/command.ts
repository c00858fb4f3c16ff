import type { RecordState } from '../core/store.ts';
import {
  COMMAND_NAMES,
  durationMs,
  type GivenOptions,
  isCommandName,
  parseOptions,
  textsOf,
  wholeNumber,
} from './command-options.ts';
import { type ReadFile, settlementOf } from './command-settlement.ts';
import type { RecordName } from './record-name.ts';
import type { ResponseParts } from './record-text.ts';
import type { SettleOptions, settle } from './settling.ts';
import { parseStoreAddress, type StoreAddress } from './store-address.ts';

/** What the command line is asked to do. */
export type Command =
  | { readonly name: 'help' }
  | (OnStore & { readonly name: 'list' } & Listing)
  | (OnStore & {
      readonly name: 'show';
      readonly record: RecordName;
      readonly parts: ResponseParts;
    })
  | (OnStore & { readonly name: 'settle' } & Settling)
  | (OnStore & { readonly name: 'prune'; readonly batchSize: number });

/** What all commands have that need a store. */
export interface OnStore {
  readonly address: StoreAddress;
  /** Whether the output is JSON, one value a line. */
  readonly json: boolean;
}

export interface Listing {
  readonly state: RecordState | undefined;
  readonly olderThanMs: number;
  readonly limit: number;
}

export interface Settling {
  readonly record: RecordName;
  readonly settlement: Parameters<typeof settle>[2];
  readonly options: SettleOptions;
}

/** Where a command comes from. */
export interface CommandSource {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The bytes of a file, or of the input for `-`. */
  readonly readFile: ReadFile;
}

/** Reads a command. Rejects with a sentence when it is none, and touches no store. */
export async function parseCommand({ args, env, readFile }: CommandSource): Promise<Command> {
  const [name, ...rest] = args;
  if (name === undefined) throw new Error(`Expected a command: ${COMMAND_NAMES.join(', ')}.`);
  if (name === 'help' || args.includes('--help')) return { name: 'help' };
  if (!isCommandName(name))
    throw new Error(`Expected a command: ${COMMAND_NAMES.join(', ')}; got another.`);
  const { given, positionals } = parseOptions(name, rest);
  const names = textsOf(given, ['table', 'schema', 'prefix']);
  const address = parseStoreAddress(given['store']?.toString() ?? env['IDEMPOTENCY_STORE'], names);
  const on: OnStore = { address, json: given['json'] === true };
  if (name === 'show' || name === 'settle') {
    const record = recordNameOf(positionals, given);
    if (name === 'settle')
      return { name, ...on, record, ...(await settlingOf(given, env, readFile)) };
    const parts = { headers: given['headers'] === true, body: given['body'] === true };
    return { name, ...on, record, parts };
  }
  if (positionals.length > 0) throw new Error(`Expected no argument of ${name} but its options.`);
  if (name === 'prune') return { name, ...on, batchSize: wholeNumber(given, 'batch-size', 1_000) };
  return { name: 'list', ...on, ...listingOf(name, given) };
}

const STATES: readonly unknown[] = ['pending', 'completed', 'tombstone'];
const REFERENCE = /^[0-9a-f]{8,64}$/i;

function listingOf(name: 'pending' | 'list', given: GivenOptions): Listing {
  const state = name === 'pending' ? 'pending' : given['state'];
  if (state !== undefined && !STATES.includes(state)) {
    throw new Error('Expected --state to be pending, completed or tombstone.');
  }
  return {
    state: state as RecordState | undefined,
    olderThanMs: durationMs(given, 'older-than'),
    limit: wholeNumber(given, 'limit', Number.POSITIVE_INFINITY),
  };
}

function recordNameOf(positionals: readonly string[], given: GivenOptions): RecordName {
  const parts = textsOf(given, ['tenant', 'operation', 'key']);
  const [reference, more] = positionals;
  const hasParts = Object.keys(parts).length > 0;
  if (more === undefined && reference !== undefined && !hasParts && REFERENCE.test(reference)) {
    return { reference };
  }
  if (reference === undefined && parts.key !== undefined && parts.key !== '') {
    return { ...parts, key: parts.key };
  }
  throw new Error(
    'Expected one record: its reference, 8 hex digits or more, or --key with --operation and ' +
      '--tenant where it has them.',
  );
}

async function settlingOf(
  given: GivenOptions,
  env: CommandSource['env'],
  readFile: ReadFile,
): Promise<Omit<Settling, 'record'>> {
  const settlement = await settlementOf(given, readFile);
  const reason = given['reason']?.toString().trim() ?? '';
  if (reason === '') throw new Error('Expected --reason: what you have seen, in a few words.');
  const by = (given['by']?.toString() ?? env['USER'] ?? env['LOGNAME'] ?? '').trim();
  if (by === '') throw new Error('Expected --by: your name. There is none in the environment.');
  return { settlement, options: { reason, by, force: given['force'] === true } };
}

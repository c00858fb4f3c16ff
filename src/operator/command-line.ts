import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, type CommandSource, type Listing, parseCommand } from './command.ts';
import { USAGE } from './command-usage.ts';
import { openStore } from './opened-store.ts';
import { prune } from './pruning.ts';
import { listRecords } from './record-list.ts';
import type { RecordName } from './record-name.ts';
import { listHead, listJson, listLine, momentText, showJson, showLines } from './record-text.ts';
import { settle } from './settling.ts';
import { type ShownRecord, showRecord } from './shown-record.ts';
import { withoutSecrets } from './store-address.ts';
import { visible, visibleJson } from './terminal-text.ts';

/** What a command line runs in. */
export interface CommandSurroundings extends Pick<CommandSource, 'args' | 'env'> {
  /** Where relative paths begin, and whose project the drivers are of. */
  readonly folder: string;
  /** What `-` stands for where a file is asked for. */
  readonly input: AsyncIterable<Uint8Array>;
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
}

/** 0: done. 1: refused, not there, or failed. 2: not a command. */
export type ExitCode = 0 | 1 | 2;

/** Runs one command to its end. What is printed can do nothing to a terminal. Never rejects. */
export async function runCommandLine(surroundings: CommandSurroundings): Promise<ExitCode> {
  const { args, env, print, complain } = surroundings;
  let command: Command;
  try {
    const source = { args, env, readFile: (path: string) => bytesOf(path, surroundings) };
    command = await parseCommand(source);
  } catch (error) {
    complain(`express-idempotent: ${visible(messageOf(error))}`);
    complain('See express-idempotent --help.');
    return 2;
  }
  if (command.name === 'help') {
    for (const line of USAGE) print(line);
    return 0;
  }
  try {
    return await onStore(command, surroundings);
  } catch (error) {
    complain(`express-idempotent: ${visible(withoutSecrets(messageOf(error), command.address))}`);
    return 1;
  }
}

type StoreCommand = Exclude<Command, { readonly name: 'help' }>;
type Of<Name extends Command['name']> = Extract<StoreCommand, { readonly name: Name }>;
type Opened = Parameters<typeof listRecords>[0];

async function onStore(command: StoreCommand, surroundings: CommandSurroundings) {
  const { store, close } = await openStore(command.address, surroundings.folder);
  try {
    return await run(command, store, surroundings);
  } finally {
    await close();
  }
}

function run(command: StoreCommand, store: Opened, to: CommandSurroundings): Promise<ExitCode> {
  const { name } = command;
  switch (name) {
    case 'list':
      return runList(command, store, to);
    case 'show':
      return runShow(command, store, to);
    case 'settle':
      return runSettle(command, store, to);
    case 'prune':
      return runPrune(command, store, to);
    default:
      return name satisfies never;
  }
}

async function runList(
  command: Of<'list'>,
  store: Opened,
  to: CommandSurroundings,
): Promise<ExitCode> {
  const { json, limit } = command;
  let count = 0;
  for await (const record of listRecords(store, pagesOf(command))) {
    if (count === limit) {
      if (!json) to.print(`There are more than ${limit}.`);
      return 0;
    }
    if (count === 0 && !json) to.print(listHead());
    to.print(json ? listJson(record) : listLine(record, Date.now()));
    count += 1;
  }
  if (!json && count === 0) to.print(`There is no ${command.state ?? 'such'} record.`);
  return 0;
}

function pagesOf({ state, olderThanMs, limit }: Listing) {
  const pageSize = Math.min(MAX_PAGE_SIZE, limit + 1);
  return { ...(state === undefined ? {} : { state }), olderThanMs, pageSize };
}

async function runShow(command: Of<'show'>, store: Opened, to: CommandSurroundings) {
  const { record, parts, json } = command;
  const shown = await showRecord(store, record);
  if (shown === undefined) return absent(to, record);
  if (json) to.print(showJson(shown, parts));
  else for (const line of showLines(shown, parts, Date.now())) to.print(line);
  return 0;
}

async function runSettle(command: Of<'settle'>, store: Opened, to: CommandSurroundings) {
  const { record, settlement, options, json } = command;
  const shown = await showRecord(store, record);
  if (shown === undefined) return absent(to, record);
  const { recordKey, reference, attempt } = shown;
  const answer = await settle(store, recordKey, settlement, options);
  const { kind } = settlement;
  const status = kind === 'never-started' ? null : settlement.response.status;
  const { reason, by, force } = options;
  if (json) to.print(visibleJson({ answer, reference, attempt, kind, status, reason, by, force }));
  switch (answer) {
    case 'settled':
      if (!json) to.print(`${reference} is settled: ${outcomeOf(status, attempt)}`);
      return 0;
    case 'lease-holds':
      to.complain(`express-idempotent: ${leaseHolds(shown)}`);
      return 1;
    case 'not-pending':
      to.complain('express-idempotent: The record is not pending any more; nothing was changed.');
      return 1;
    case 'absent':
      return absent(to, record);
    default:
      return answer satisfies never;
  }
}

function outcomeOf(status: number | null, attempt: number): string {
  if (status !== null) return `its retries are answered ${status}.`;
  if (attempt === 1) return 'its key is free, and the next request acts.';
  return `its lease is over. It keeps its number, ${attempt}: the next request takes it over.`;
}

function leaseHolds({ leaseUntilMs }: ShownRecord): string {
  const until = leaseUntilMs === undefined ? '' : ` until ${momentText(leaseUntilMs, Date.now())}`;
  return (
    `The lease of its owner holds${until}: its process may be at work. Nothing was changed. ` +
    'Wait until it is over; or stop the process, and insist with --force.'
  );
}

async function runPrune(command: Of<'prune'>, store: Opened, to: CommandSurroundings) {
  const changed = await prune(store, { batchSize: command.batchSize });
  to.print(command.json ? visibleJson({ changed }) : `${changed} records were pruned.`);
  return 0 as const;
}

const MAX_PAGE_SIZE = 1_000;
const OPERATION_HINT =
  " Give --operation, such as 'POST /labels', and --tenant where the service has them.";

function absent(to: CommandSurroundings, record: RecordName): 1 {
  const isPart = typeof record === 'object' && 'key' in record && record.operation === undefined;
  to.complain(`express-idempotent: There is no such record.${isPart ? OPERATION_HINT : ''}`);
  return 1;
}

/** Not at once for the input: Node may find nothing there yet, and fail. */
async function bytesOf(path: string, { folder, input }: CommandSurroundings): Promise<Uint8Array> {
  if (path !== '-') return readFile(resolve(folder, path));
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What went wrong, and what a driver said about it. */
function messageOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: unknown };
  // Where several addresses were tried, the message is empty.
  const { message: said, code } = (cause ?? {}) as { message?: unknown; code?: unknown };
  const what = String(message || error);
  const why = said || code;
  return why === undefined || what.includes(String(why)) ? what : `${what} (${why})`;
}

import { IdempotencyError } from '../../core/errors.ts';
import type { ListCapability, ListedRecord, ListOptions, RecordState } from '../../core/store.ts';
import { checkListOptions } from '../list-options.ts';
import { listedRecordKey } from '../listed-record-key.ts';
import { globbed } from './globbed.ts';
import type { RedisNode } from './link.ts';
import { decodeState, type StoredState, stateOf } from './record.ts';

type Page = Awaited<ReturnType<ListCapability['list']>>;

/** What one look at a record tells; `undefined` when it has gone meanwhile, or cannot be read. */
export type LookAtState = (digest: string) => Promise<Look | undefined>;

export interface Look {
  readonly state: Buffer;
  readonly hasBody: boolean;
}

/** What {@link ListVerb} reads from. */
export interface Keyspace {
  readonly prefix: string;
  nodes(): Promise<readonly RedisNode[]>;
  nowMs(node: RedisNode): Promise<number>;
  look: LookAtState;
}

/**
 * Redis keeps no order of keys, and an index would cost every request: so this walks all keys of
 * the database, a few at a time.
 */
export class ListVerb {
  readonly #keyspace: Keyspace;
  readonly #pattern: string;

  constructor(keyspace: Keyspace) {
    this.#keyspace = keyspace;
    this.#pattern = `${globbed(keyspace.prefix)}r:{*}`;
  }

  async run(options: ListOptions): Promise<Page> {
    checkListOptions(options, isPosition);
    const { state, olderThanMs = 0, limit = 100, after } = options;
    const nodes = await this.#keyspace.nodes();
    const [first] = nodes;
    if (first === undefined) return { records: [], after: undefined };
    const createdByMs = (await this.#keyspace.nowMs(first)) - olderThanMs;
    return state === 'pending'
      ? this.#oldestPending(nodes, createdByMs, limit, after)
      : this.#nextOf(nodes, state, createdByMs, limit, after);
  }

  /** Each page walks over everything, and keeps the oldest after the one where the last ended. */
  async #oldestPending(
    nodes: readonly RedisNode[],
    createdByMs: number,
    limit: number,
    after = '',
  ): Promise<Page> {
    const oldest = new Map<string, Found>();
    const cut = () => {
      const inOrder = [...oldest.keys()].sort();
      for (const newer of inOrder.slice(limit + 1)) oldest.delete(newer);
      return inOrder;
    };
    for await (const { found } of this.#walk(nodes, START)) {
      const at = placeOf(found);
      const { isPending, createdAtMs } = found.stored;
      if (isPending && createdAtMs <= createdByMs && at > after) oldest.set(at, found);
      if (oldest.size > KEPT_PAGES * limit) cut();
    }
    const places = cut();
    const records = places.slice(0, limit).flatMap((at) => listedOf(oldest.get(at)));
    return { records, after: places.length > limit ? places[limit - 1] : undefined };
  }

  /** In the order of the walk, from where the page before stopped. */
  async #nextOf(
    nodes: readonly RedisNode[],
    state: RecordState | undefined,
    createdByMs: number,
    limit: number,
    after: string | undefined,
  ): Promise<Page> {
    const records: ListedRecord[] = [];
    let last = positionOf(after);
    for await (const { found, position } of this.#walk(nodes, last)) {
      if (!isOf(found, state, createdByMs)) continue;
      if (records.length === limit) return { records, after: textOf(last) };
      records.push(...listedOf(found));
      last = position;
    }
    return { records, after: undefined };
  }

  /** All records after a position, with the position of each. Some may come twice. */
  async *#walk(nodes: readonly RedisNode[], from: Position) {
    let { cursor, digest } = from;
    for (const node of nodes.filter(({ name }) => name >= from.nodeName)) {
      if (node.name !== from.nodeName) [cursor, digest] = ['0', ''];
      do {
        const step = await node.scan(cursor, this.#pattern, SCAN_COUNT);
        for (const found of await this.#look(step.keys)) {
          const position = { cursor, digest: found.digest, nodeName: node.name };
          if (found.digest > digest) yield { found, position };
        }
        [cursor, digest] = [step.cursor, ''];
      } while (cursor !== '0');
    }
  }

  async #look(keys: readonly string[]): Promise<Found[]> {
    const start = `${this.#keyspace.prefix}r:{`.length;
    const found = await Promise.all(
      [...new Set(keys)].map(async (key) => {
        const digest = key.slice(start, -1);
        return foundOf(digest, await this.#keyspace.look(digest).catch(unlessCorrupt));
      }),
    );
    return found
      .filter((one) => one !== undefined)
      .sort((one, other) => (one.digest < other.digest ? -1 : 1));
  }
}

const SCAN_COUNT = 1_000;
/** How many pages of pending records are held at once, while the oldest are looked for. */
const KEPT_PAGES = 4;

/** Where a walk is: the cursor that the last step began with, and how far it came in that step. */
interface Position {
  readonly cursor: string;
  readonly digest: string;
  readonly nodeName: string;
}

const START: Position = { cursor: '0', digest: '', nodeName: '' };

interface Found {
  readonly digest: string;
  readonly stored: StoredState;
  readonly hasBody: boolean;
}

/** A record that cannot be read is not shown: there is nothing to say about it. */
function unlessCorrupt(error: unknown): undefined {
  if (!(error instanceof IdempotencyError) || error.code !== 'record_corrupt') throw error;
}

function foundOf(digest: string, look: Look | undefined): Found | undefined {
  if (look === undefined) return undefined;
  try {
    return { digest, stored: decodeState(look.state), hasBody: look.hasBody };
  } catch (error) {
    return unlessCorrupt(error);
  }
}

function isOf(found: Found, state: RecordState | undefined, createdByMs: number): boolean {
  if (found.stored.createdAtMs > createdByMs) return false;
  return state === undefined || stateOf(found.stored, found.hasBody) === state;
}

/** Where a pending record stands in the order of age: text that compares as the numbers do. */
function placeOf({ stored, digest }: Found): string {
  return `${String(stored.createdAtMs).padStart(15, '0')}.${digest}`;
}

function textOf({ cursor, digest, nodeName }: Position): string {
  return `${cursor}.${digest}.${nodeName}`;
}

function positionOf(after: string | undefined): Position {
  if (after === undefined) return START;
  const [, cursor = '0', digest = '', nodeName = ''] = POSITION.exec(after) ?? [];
  return { cursor, digest, nodeName };
}

/** One record, or none. */
function listedOf(found: Found | undefined): ListedRecord[] {
  if (found === undefined) return [];
  const { isPending: _, ...record } = found.stored;
  const recordKey = listedRecordKey(record, Buffer.from(found.digest, 'base64url'));
  return [{ recordKey, ...record, state: stateOf(found.stored, found.hasBody) }];
}

const POSITION = /^(\d{1,20})\.([\w-]{0,43})\.(.{1,300})$/;
const PLACE = /^\d{15}\.[\w-]{43}$/;

function isPosition(after: string): boolean {
  return POSITION.test(after) || PLACE.test(after);
}

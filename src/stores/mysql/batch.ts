import type { LaneRules } from '../lanes.ts';
import { joined, type Query, queryOf, repeated, type Statement } from './statement.ts';
import type { Table } from './table.ts';

/** Statements of many records hold one piece of text for each, with its values written into it. */

/**
 * Ids of rows that the same statement changes. MySQL refuses that unless they are looked up before,
 * and `distinct` keeps it from merging one into the other.
 */
export const SELECT_APART = 'select distinct id';

interface WithId {
  readonly id: Buffer;
}

/** `head`, the ids of all items in brackets, `tail`. */
export class ForIds {
  readonly #head: Statement;
  readonly #id: Statement;
  readonly #tail: Statement;

  constructor(
    table: Table,
    head: (now: string) => string,
    tail: (now: string) => string = () => '',
  ) {
    this.#head = table.statement((now) => `${head(now)} (`);
    this.#id = table.statement(() => ':id');
    this.#tail = table.statement((now) => `) ${tail(now)}`);
  }

  queryOf(items: readonly WithId[]): Query {
    const ids = repeated(
      this.#id,
      items.map(({ id }) => ({ id })),
      ', ',
    );
    return joined(queryOf(this.#head), ids, queryOf(this.#tail));
  }
}

/** In the order of their ids: two batches in different orders would wait for each other. */
export function byId<Item extends WithId>(items: readonly Item[]): Item[] {
  return [...items].sort((a, b) => Buffer.compare(a.id, b.id));
}

/** The first of each id. Others of the same id have to go by themselves. */
export function firstOfEachId<Item extends WithId>(items: readonly Item[]): Map<string, Item> {
  const first = new Map<string, Item>();
  for (const item of items) {
    const name = nameOf(item.id);
    if (!first.has(name)) first.set(name, item);
  }
  return first;
}

/** An id as the key of a map. */
export function nameOf(id: unknown): string {
  return Buffer.isBuffer(id) ? id.toString('latin1') : String(id);
}

/**
 * What is measured to be best; see bench/stores. Bytes are written as hexadecimal digits, and
 * `max_allowed_packet` is 16 MB where nobody has changed it.
 */
export const LANE_LIMITS: Pick<
  LaneRules<unknown, unknown>,
  'lanes' | 'maxItems' | 'maxBytes' | 'stuckAfterMs'
> = { lanes: 2, maxItems: 256, maxBytes: 2 * 1024 * 1024, stuckAfterMs: 250 };

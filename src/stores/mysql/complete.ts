import { FencedError } from '../../core/errors.ts';
import { Lanes } from '../lanes.ts';
import type { ResponseColumns } from '../response-columns.ts';
import type { Retention } from '../retention.ts';
import { byId, ForIds, firstOfEachId, LANE_LIMITS, nameOf, SELECT_APART } from './batch.ts';
import { mayConcernOneRecord } from './mysql-error.ts';
import { COMPLETED, holds, isThere, PENDING } from './record-row.ts';
import { type MySqlSession, SERVER_COLUMNS } from './session.ts';
import { joined, type Query, queryOf, repeated, type Statement } from './statement.ts';
import { later, type Table } from './table.ts';

interface CompleteItem extends ResponseColumns {
  readonly id: Buffer;
  readonly owner: string;
  readonly endMs: number;
}

/** Every process judges a record by the retentions that it was completed with. */
const completedAt = (now: string) =>
  `completed_at = ${now}, lease_until = null, expires_at = ${later(now, ':resultMs')},
   forget_at = ${later(now, '(:resultMs + :tombstoneMs)')}`;

/**
 * One statement decides who owns the record and whether it is still pending. It always changes the
 * state: so it counts the same rows whether a connection counts those that were found or those that
 * were changed (CLIENT_FOUND_ROWS).
 */
const completeOne = (table: Table) =>
  table.statement(
    (now) => `
update ${table.name} set state = ${COMPLETED}, response_head = :head, response_body = :body,
       ${completedAt(now)}
 where id = :id and owner = :owner and state = ${PENDING}`,
  );

/**
 * The same for many. A record that somebody else has locked is left out and sent by itself, so that
 * it holds up nobody. The order of the tables is fixed, and each row is found by the primary key:
 * whatever else the planner might choose would lock all rows that it reads.
 */
const completeMany = (table: Table): CompleteMany => ({
  head: table.statement(() => 'update ('),
  asked: table.statement(
    () => 'select :id as id, :owner as owner, :head as response_head, :body as response_body',
  ),
  free: new ForIds(
    table,
    () => `) as asked
  straight_join (${SELECT_APART} from ${table.name} force index (primary) where id in`,
    () => `and state = ${PENDING} for update skip locked) as free on free.id = asked.id`,
  ),
  tail: table.statement(
    (now) => `
  straight_join ${table.name} as r force index (primary)
     on r.id = free.id and r.owner = asked.owner
   set r.state = ${COMPLETED}, r.response_head = asked.response_head,
       r.response_body = asked.response_body, ${completedAt(now)}
 where r.state = ${PENDING}`,
  ),
});

interface CompleteMany {
  readonly head: Statement;
  readonly asked: Statement;
  readonly free: ForIds;
  readonly tail: Statement;
}

/** Whether a record is completed by this owner: just now, or already, and the reply was lost. */
const completed = (now: string) => `state = ${COMPLETED} and ${isThere(now)}`;

const findOwn = (table: Table) =>
  new ForIds(
    table,
    () =>
      `select id, owner, ${SERVER_COLUMNS} from ${table.name} force index (primary) where id in`,
    (now) => `and ${completed(now)}`,
  );

/** `complete`, one by one or many at once. */
export class CompleteVerb {
  readonly #session: MySqlSession;
  readonly #retention: Retention;
  readonly #one: Statement;
  readonly #many: CompleteMany;
  readonly #findOwn: ForIds;
  readonly #lanes: Lanes<CompleteItem, 'completed' | 'not owned'>;

  constructor(session: MySqlSession, table: Table, retention: Retention) {
    this.#session = session;
    this.#retention = retention;
    this.#one = completeOne(table);
    this.#many = completeMany(table);
    this.#findOwn = findOwn(table);
    this.#lanes = new Lanes({
      ...LANE_LIMITS,
      sendOne: (item) => this.#sendOne(item),
      sendMany: (items) => this.#sendMany(items),
      mayConcernOne: mayConcernOneRecord,
      bytesOf: ({ head, body }) => head.length + (body?.byteLength ?? 0),
    });
  }

  /** @throws {FencedError} the record is absent or another owner's. */
  async run(item: CompleteItem): Promise<void> {
    const outcome = await this.#session.named(this.#lanes.send(item));
    if (outcome === 'not owned') throw new FencedError();
  }

  /** The statement with its values, also for a transaction that is open already. */
  queryFor(id: Buffer, owner: string, { head, body }: ResponseColumns): Query {
    return queryOf(this.#one, { id, owner, head, body, ...this.#retentions() });
  }

  async #sendOne(item: CompleteItem): Promise<'completed' | 'not owned'> {
    const { id, owner, endMs } = item;
    const done = await this.#session.writeBare(this.queryFor(id, owner, item), endMs);
    if (done === 1) return 'completed';
    return (await this.#areCompleted([item], endMs))[0] ?? 'not owned';
  }

  async #sendMany(items: readonly CompleteItem[]): Promise<('completed' | undefined)[]> {
    const endMs = Math.max(...items.map((item) => item.endMs));
    const done = await this.#session.writeBare(this.#queryForMany(items), endMs);
    return done === items.length ? items.map(() => 'completed') : this.#areCompleted(items, endMs);
  }

  #queryForMany(items: readonly CompleteItem[]): Query {
    const all = byId([...firstOfEachId(items).values()]);
    const { head, asked, free, tail } = this.#many;
    const rows = all.map((item) => ({
      id: item.id,
      owner: item.owner,
      head: item.head,
      body: item.body,
    }));
    return joined(
      queryOf(head),
      repeated(asked, rows, ' union all '),
      free.queryOf(all),
      queryOf(tail, this.#retentions()),
    );
  }

  async #areCompleted(
    items: readonly CompleteItem[],
    endMs: number,
  ): Promise<('completed' | undefined)[]> {
    const rows = await this.#session.readBare(this.#findOwn.queryOf(items), endMs);
    const found = new Map(rows.map((row) => [nameOf(row['id']), row]));
    return items.map(({ id, owner }) => {
      const row = found.get(nameOf(id));
      return row !== undefined && holds(row, 'owner', owner) ? 'completed' : undefined;
    });
  }

  #retentions(): { readonly resultMs: number; readonly tombstoneMs: number } {
    const { resultRetentionMs, tombstoneRetentionMs } = this.#retention;
    return { resultMs: resultRetentionMs, tombstoneMs: tombstoneRetentionMs };
  }
}

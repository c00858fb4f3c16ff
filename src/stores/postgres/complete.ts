import { FencedError } from '../../core/errors.ts';
import { Lanes } from '../lanes.ts';
import type { ResponseColumns } from '../response-columns.ts';
import type { Retention } from '../retention.ts';
import { ASKED_ID, idsOf, jsonOf, LANE_LIMITS } from './batch.ts';
import type { Statement } from './driver.ts';
import { mayConcernOneRecord } from './postgres-error.ts';
import { COMPLETED, isThere, PENDING } from './record-row.ts';
import { type PostgresSession, timeLeft } from './session.ts';
import type { Table } from './table.ts';

interface CompleteItem extends ResponseColumns {
  readonly id: Buffer;
  readonly owner: string;
  readonly endMs: number;
}

/** `$1`: milliseconds of result, `$2` of tombstone. Every process judges a record by these. */
const completedAt = (now: string, result: string, tombstone: string) =>
  `completed_at = ${now}, lease_until = null,
   expires_at = ${now} + ${result}::float8 * interval '1 ms',
   forget_at = ${now} + (${result}::float8 + ${tombstone}::float8) * interval '1 ms'`;

/**
 * One statement decides who owns the record and whether it is still pending. It changes no indexed
 * column, so that PostgreSQL writes the row alone (HOT).
 */
const completeOne = (table: Table, isInTransaction: boolean) =>
  table.statement(
    isInTransaction ? 'complete_in' : 'complete',
    ['outcome'],
    isInTransaction ? 6 : 7,
    (now) => `
update ${table.name}
   set state = ${COMPLETED}, head = $3, body = $4, ${completedAt(now, '$5', '$6')}
 where id = $1 and owner = $2 and state = ${PENDING}
   ${isInTransaction ? '' : `and set_config('lock_timeout', $7, true) is not null`}
returning 'completed' as outcome`,
  );

/**
 * The same for many. A record that somebody else has locked is left out and sent by itself, so that
 * it holds up nobody. The others are locked, hence there to stay: nothing is ever inserted.
 * It is an upsert all the same, since that finds each row by the primary key whatever the planner
 * believes the size of the table to be; an UPDATE with a join may read all of it.
 */
const completeMany = (table: Table) =>
  table.statement(
    'completes',
    ['n'],
    9,
    (now) => `
with limits as materialized (
  select set_config('lock_timeout', $9, true) as lock_timeout
), asked as materialized (
  select n, ${ASKED_ID} as id, owner, head,
         substring($6::bytea from body_start::int for body_length::int) as body
    from limits, rows from (
      json_array_elements_text($2::text::json), json_array_elements_text($3::text::json),
      json_array_elements_text($4::text::json), json_array_elements_text($5::text::json)
    ) with ordinality as a (owner, head, body_start, body_length, n)
), locked as materialized (
  select distinct on (asked.id) asked.* from asked cross join lateral (
    select from ${table.name} where id = asked.id and owner = asked.owner and state = ${PENDING}
     limit 1 for update skip locked
  ) as r
), done as (
  insert into ${table.name} as r (id, owner, head, body, fingerprint, idempotency_key,
                                  attempt, state, created_at)
  select id, owner, head, body, '', '', 1, ${COMPLETED}, ${now} from locked order by id
  on conflict (id) do update
     set state = ${COMPLETED}, head = excluded.head, body = excluded.body,
         ${completedAt(now, '$7', '$8')}
   where r.owner = excluded.owner and r.state = ${PENDING}
  returning id, owner
)
select asked.n::text as n from done join asked using (id, owner)`,
  );

/** Whether the record is completed by this owner already: its first reply was lost. */
const findOwn = (table: Table) =>
  table.statement(
    'completed',
    ['outcome'],
    2,
    (now) => `
select 'completed' as outcome from ${table.name}
 where id = $1 and owner = $2 and state = ${COMPLETED} and ${isThere(now)}`,
  );

/** `complete`, one by one, many at once, or in a transaction of the user's. */
export class CompleteVerb {
  readonly #session: PostgresSession;
  readonly #retention: Retention;
  readonly #one: Statement;
  readonly #many: Statement;
  readonly #inTransaction: Statement;
  readonly #findOwn: Statement;
  readonly #lanes: Lanes<CompleteItem, 'completed' | 'not owned'>;

  constructor(session: PostgresSession, table: Table, retention: Retention) {
    this.#session = session;
    this.#retention = retention;
    this.#one = completeOne(table, false);
    this.#many = completeMany(table);
    this.#inTransaction = completeOne(table, true);
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
    let outcome: 'completed' | 'not owned';
    try {
      outcome = await this.#lanes.send(item);
    } catch (error) {
      throw this.#session.errorOf(error);
    }
    if (outcome === 'not owned') throw new FencedError();
  }

  /** The statement and its values, for a transaction that is open already. */
  inTransaction(
    id: Buffer,
    owner: string,
    { head, body }: ResponseColumns,
  ): { readonly statement: Statement; readonly values: unknown[] } {
    const values = [id, owner, head, body, ...this.#retentions()];
    return { statement: this.#inTransaction, values };
  }

  async #sendOne(item: CompleteItem): Promise<'completed' | 'not owned'> {
    const { id, owner, head, body, endMs } = item;
    const limit = String(timeLeft(endMs));
    const values = [id, owner, head, body, ...this.#retentions(), limit];
    const [done] = await this.#session.runBare(this.#one, values, endMs);
    if (done !== undefined) return 'completed';
    const own = [id, owner];
    const [before] = await this.#session.runBare(this.#findOwn, own, endMs);
    return before === undefined ? 'not owned' : 'completed';
  }

  async #sendMany(items: readonly CompleteItem[]): Promise<('completed' | undefined)[]> {
    const endMs = Math.max(...items.map((item) => item.endMs));
    const bodies = items.map(({ body }) => body ?? EMPTY);
    let end = 1;
    const starts = bodies.map((body) => {
      end += body.byteLength;
      return end - body.byteLength;
    });
    const rows = await this.#session.runBare(
      this.#many,
      [
        idsOf(items),
        jsonOf(items.map(({ owner }) => owner)),
        jsonOf(items.map(({ head }) => head)),
        jsonOf(starts),
        jsonOf(items.map(({ body }) => body?.byteLength ?? null)),
        Buffer.concat(bodies),
        ...[...this.#retentions(), String(timeLeft(endMs))],
      ],
      endMs,
    );
    const outcomes: ('completed' | undefined)[] = items.map(() => undefined);
    for (const row of rows) outcomes[Number(row['n']) - 1] = 'completed';
    return outcomes;
  }

  #retentions(): [resultMs: number, tombstoneMs: number] {
    return [this.#retention.resultRetentionMs, this.#retention.tombstoneRetentionMs];
  }
}

const EMPTY = new Uint8Array(0);

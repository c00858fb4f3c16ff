import type { Attempt, Claim } from '../../core/store.ts';
import { Lanes } from '../lanes.ts';
import type { ResponseCodec } from '../response-columns.ts';
import { ASKED_ID, idsOf, jsonOf, LANE_LIMITS } from './batch.ts';
import type { Row, Statement } from './driver.ts';
import { mayConcernOneRecord } from './postgres-error.ts';
import { COMPLETED, isThere, PENDING, responseIn, unknownState } from './record-row.ts';
import { type PostgresSession, timeLeft } from './session.ts';
import type { Table } from './table.ts';

/** What a claim is decided by, and what a new record keeps of it. */
interface ClaimItem {
  readonly key: string;
  readonly id: Buffer;
  readonly fingerprint: string;
  readonly context: Attempt;
  readonly endMs: number;
}

/**
 * What a look at the record tells, as columns. The fingerprint comes before the state, and what is
 * stored is handed to nobody who asks with another one.
 */
const look = (now: string, fingerprint: string, owner: string) =>
  `fingerprint = ${fingerprint} as same, state, owner = ${owner} as mine, attempt, head, body,
   tombstone or expires_at <= ${now} as ended, lease_until <= ${now} as lease_over`;

const ANSWER = `case when not same then 'conflict'
       when state = ${PENDING} and mine then 'new'
       when state = ${PENDING} and lease_over then 'pending, lease over'
       when state = ${PENDING} then 'pending'
       when state <> ${COMPLETED} then 'unknown'
       when ended then 'expired'
       else 'replay' end as answer,
  attempt::text as attempt, case when same and not ended then head end as head,
  case when same and not ended then encode(body, 'base64') end as body`;

const NEW = `'new' as answer, '1' as attempt, null::text as head, null::text as body`;

const COLUMNS = ['answer', 'attempt', 'head', 'body'] as const;

/**
 * SELECT first, in the same statement: a record that is there costs no write, and nobody waits for
 * an owner whose `complete` has not committed yet. No row at all is no answer: somebody else's
 * record was committed after this statement began, and only a new one can see it.
 *
 * The lock time-out is the server's part of the deadline. Set here it costs no round trip, holds
 * for this statement alone, and is in force before the insert can wait.
 */
const claimOne = (table: Table) =>
  table.statement(
    'claim',
    COLUMNS,
    8,
    (now) => `
with held as materialized (
  select ${look(now, '$2', '$3')} from ${table.name} where id = $1 and ${isThere(now)}
), made as (
  insert into ${table.name} (id, fingerprint, owner, tenant, operation, idempotency_key,
                             attempt, state, created_at, lease_until)
  select $1, $2, $3, $4, $5, $6, 1, ${PENDING}, ${now}, ${now} + $7::float8 * interval '1 ms'
   where not exists (select from held) and set_config('lock_timeout', $8, true) is not null
  on conflict (id) do nothing
  returning id
)
select ${NEW} from made union all select ${ANSWER} from held`,
  );

/**
 * The same for many. Whose record was made is told by its owner, since two claims of a batch may be
 * of one key; the one that made none gets no row, and is sent by itself. Records are made in
 * the order of their ids: two batches in different orders would wait for each other.
 *
 * The look is a lateral one with a limit, so that no plan of it reads the whole table.
 */
const claimMany = (table: Table) =>
  table.statement(
    'claims',
    ['n', ...COLUMNS],
    8,
    (now) => `
with limits as materialized (
  select set_config('lock_timeout', $8, true) as lock_timeout
), asked as materialized (
  select n, ${ASKED_ID} as id, fingerprint, owner, tenant, operation, key, lease::float8 as lease
    from limits, rows from (
      json_array_elements_text($2::text::json), json_array_elements_text($3::text::json),
      json_array_elements_text($4::text::json), json_array_elements_text($5::text::json),
      json_array_elements_text($6::text::json), json_array_elements_text($7::text::json)
    ) with ordinality as a (fingerprint, owner, tenant, operation, key, lease, n)
), held as materialized (
  select asked.n, r.* from asked cross join lateral (
    select ${look(now, 'asked.fingerprint', 'asked.owner')}
      from ${table.name} where id = asked.id and ${isThere(now)} limit 1
  ) as r
), made as (
  insert into ${table.name} (id, fingerprint, owner, tenant, operation, idempotency_key,
                             attempt, state, created_at, lease_until)
  select id, fingerprint, owner, tenant, operation, key, 1, ${PENDING}, ${now},
         ${now} + lease * interval '1 ms'
    from asked where not exists (select from held where held.n = asked.n)
   order by id
  on conflict (id) do nothing
  returning id, owner
)
select asked.n::text as n, ${NEW} from made join asked using (id, owner)
union all select n::text, ${ANSWER} from held`,
  );

/** A tombstone that has ended counts as absent; here it goes, so that a claim can be made. */
const forget = (table: Table) =>
  table.statement(
    'forget',
    [],
    1,
    (now) =>
      `delete from ${table.name} where id = $1 and state <> ${PENDING} and forget_at <= ${now}`,
  );

/** A statement that finds neither a record nor room for one is repeated: races are short. */
const MAX_REPEATS = 50;

/** `claim`, one by one or many at once. */
export class ClaimVerb {
  readonly #session: PostgresSession;
  readonly #codec: ResponseCodec;
  readonly #one: Statement;
  readonly #many: Statement;
  readonly #forget: Statement;
  readonly #lanes: Lanes<ClaimItem, Row>;

  constructor(session: PostgresSession, table: Table, codec: ResponseCodec) {
    this.#session = session;
    this.#codec = codec;
    this.#one = claimOne(table);
    this.#many = claimMany(table);
    this.#forget = forget(table);
    this.#lanes = new Lanes({
      ...LANE_LIMITS,
      sendOne: (item) => this.#sendOne(item),
      sendMany: (items) => this.#sendMany(items),
      mayConcernOne: mayConcernOneRecord,
    });
  }

  async run(item: ClaimItem): Promise<Claim> {
    let row: Row;
    try {
      row = await this.#lanes.send(item);
    } catch (error) {
      throw this.#session.errorOf(error);
    }
    return claimOf(row, item.key, this.#codec);
  }

  async #sendOne({ id, fingerprint, context, endMs }: ClaimItem): Promise<Row> {
    const { owner, leaseMs = null } = context;
    for (let repeats = 0; repeats < MAX_REPEATS; repeats += 1) {
      const [row] = await this.#session.runBare(
        this.#one,
        [...[id, fingerprint, owner, ...shown(context), leaseMs], ...[String(timeLeft(endMs))]],
        endMs,
      );
      if (row !== undefined) return row;
      await this.#session.runBare(this.#forget, [id], endMs);
    }
    throw new Error('A record was neither there nor could be made.');
  }

  async #sendMany(items: readonly ClaimItem[]): Promise<(Row | undefined)[]> {
    const endMs = Math.max(...items.map((item) => item.endMs));
    const contexts = items.map(({ context }) => context);
    const columns = contexts.map(shown);
    const rows = await this.#session.runBare(
      this.#many,
      [
        idsOf(items),
        jsonOf(items.map(({ fingerprint }) => fingerprint)),
        jsonOf(contexts.map(({ owner }) => owner)),
        ...[0, 1, 2].map((column) => jsonOf(columns.map((values) => values[column]))),
        jsonOf(contexts.map(({ leaseMs }) => leaseMs)),
        ...[String(timeLeft(endMs))],
      ],
      endMs,
    );
    const answers: (Row | undefined)[] = items.map(() => undefined);
    for (const row of rows) answers[Number(row['n']) - 1] = row;
    return answers;
  }
}

/** For people who read the table; nothing is compared with them. Text there cannot hold NUL. */
function shown({ tenant, operation, key }: Attempt): (string | null)[] {
  return [tenant, operation, key].map((text) => text?.replaceAll('\0', '\u2400') ?? null);
}

function claimOf(row: Row, key: string, codec: ResponseCodec): Claim | Promise<Claim> {
  switch (row['answer']) {
    case 'new':
      return { kind: 'new', attempt: Number(row['attempt']) };
    case 'pending':
      return { kind: 'pending', leaseOver: false };
    case 'pending, lease over':
      return { kind: 'pending', leaseOver: true };
    case 'conflict':
      return { kind: 'conflict' };
    case 'expired':
      return { kind: 'expired' };
    case 'replay':
      return replayOf(row, key, codec);
    default:
      throw unknownState();
  }
}

async function replayOf(row: Row, key: string, codec: ResponseCodec): Promise<Claim> {
  return { kind: 'replay', response: await codec.decode(key, ...responseIn(row)) };
}

import type { Attempt, Claim } from '../../core/store.ts';
import { Lanes } from '../lanes.ts';
import type { ResponseCodec } from '../response-columns.ts';
import { byId, ForIds, firstOfEachId, LANE_LIMITS, nameOf } from './batch.ts';
import type { Row } from './driver.ts';
import { mayConcernOneRecord, saysThatItIsThere } from './mysql-error.ts';
import {
  COMPLETED,
  holds,
  isThere,
  isTrue,
  PENDING,
  RESPONSE_COLUMNS,
  responseIn,
  unknownState,
} from './record-row.ts';
import { type MySqlSession, SERVER_COLUMNS } from './session.ts';
import { joined, queryOf, repeated, type Statement, type Values } from './statement.ts';
import { later, type Table } from './table.ts';

/** What a claim is decided by, and what a new record keeps of it. */
interface ClaimItem {
  readonly key: string;
  readonly id: Buffer;
  readonly fingerprint: string;
  readonly context: Attempt;
  readonly endMs: number;
}

/** The record that was found, or that one was made. */
type Found = Row | 'made';

/**
 * A plain SELECT comes first: it takes no lock and waits for none, not even for an owner whose
 * `complete` has not committed yet; an INSERT would wait until the lock time-out of the server.
 */
const look = (now: string) =>
  `id, fingerprint, owner, attempt, state, tombstone = 1 or expires_at <= ${now} as ended,
   lease_until <= ${now} as lease_over, ${isThere(now)} as is_there, ${RESPONSE_COLUMNS},
   ${SERVER_COLUMNS}`;

const lookAtOne = (table: Table) =>
  table.statement((now) => `select ${look(now)} from ${table.name} where id = :id`);

const lookAtMany = (table: Table) =>
  new ForIds(
    table,
    (now) => `select ${look(now)} from ${table.name} force index (primary) where id in`,
  );

/**
 * A plain INSERT: who loses the race is told so by the primary key (1062). INSERT IGNORE would also
 * cut off what is too long, and what ON DUPLICATE KEY UPDATE answers depends on a flag of the
 * connection (CLIENT_FOUND_ROWS).
 */
const insert = (table: Table) =>
  table.statement(
    () => `insert into ${table.name} (id, fingerprint, owner, tenant, operation,
       idempotency_key, attempt, state, tombstone, created_at, lease_until) values`,
  );

const newRecord = (table: Table) =>
  table.statement(
    (now) => `(:id, :fingerprint, :owner, :tenant, :operation, :key, 1, ${PENDING}, 0, ${now},
   ${later(now, ':leaseMs')})`,
  );

/** A tombstone that has ended counts as absent; here it goes, so that a claim can be made. */
const forget = (table: Table) =>
  table.statement(
    (now) =>
      `delete from ${table.name} where id = :id and state <> ${PENDING} and forget_at <= ${now}`,
  );

/** A look that finds nothing beside an INSERT that finds something is repeated: races are short. */
const MAX_REPEATS = 50;
const MAX_REPEATS_OF_MANY = 3;

/** `claim`, one by one or many at once. */
export class ClaimVerb {
  readonly #session: MySqlSession;
  readonly #codec: ResponseCodec;
  readonly #lookAtOne: Statement;
  readonly #lookAtMany: ForIds;
  readonly #insert: Statement;
  readonly #newRecord: Statement;
  readonly #forget: Statement;
  readonly #lanes: Lanes<ClaimItem, Found>;

  constructor(session: MySqlSession, table: Table, codec: ResponseCodec) {
    this.#session = session;
    this.#codec = codec;
    this.#lookAtOne = lookAtOne(table);
    this.#lookAtMany = lookAtMany(table);
    this.#insert = insert(table);
    this.#newRecord = newRecord(table);
    this.#forget = forget(table);
    this.#lanes = new Lanes({
      ...LANE_LIMITS,
      sendOne: (item) => this.#sendOne(item),
      sendMany: (items) => this.#sendMany(items),
      mayConcernOne: mayConcernOneRecord,
    });
  }

  async run(item: ClaimItem): Promise<Claim> {
    const found = await this.#session.named(this.#lanes.send(item));
    if (found === 'made') return { kind: 'new', attempt: 1 };
    return claimOf(found, item, this.#codec);
  }

  async #sendOne(item: ClaimItem): Promise<Found> {
    const { id, endMs } = item;
    for (let repeats = 0; repeats < MAX_REPEATS; repeats += 1) {
      const [row] = await this.#session.readBare(queryOf(this.#lookAtOne, { id }), endMs);
      if (row !== undefined && isTrue(row, 'is_there')) return row;
      if (row !== undefined) await this.#session.writeBare(queryOf(this.#forget, { id }), endMs);
      if (await this.#make([item], endMs)) return 'made';
    }
    throw new Error('A record was neither there nor could be made.');
  }

  async #sendMany(items: readonly ClaimItem[]): Promise<(Found | undefined)[]> {
    const endMs = Math.max(...items.map((item) => item.endMs));
    const first = firstOfEachId(items);
    const rows = new Map<string, Row>();
    for (let repeats = 0; repeats < MAX_REPEATS_OF_MANY; repeats += 1) {
      const unknown = [...first.values()].filter(({ id }) => !rows.has(nameOf(id)));
      for (const row of await this.#session.readBare(this.#lookAtMany.queryOf(unknown), endMs)) {
        rows.set(nameOf(row['id']), row);
      }
      const absent = byId(unknown.filter(({ id }) => !rows.has(nameOf(id))));
      if (absent.length === 0 || (await this.#make(absent, endMs))) {
        const made = new Set(absent);
        return items.map((item) => (made.has(item) ? 'made' : foundIn(rows, item)));
      }
    }
    return items.map((item) => foundIn(rows, item));
  }

  /** Makes all of these records, or none when one of them is there. */
  async #make(items: readonly ClaimItem[], endMs: number): Promise<boolean> {
    const all = items.map(recordOf);
    const [one] = all;
    const rows =
      all.length === 1 ? queryOf(this.#newRecord, one) : repeated(this.#newRecord, all, ', ');
    try {
      await this.#session.writeBare(joined(queryOf(this.#insert), rows), endMs);
      return true;
    } catch (error) {
      if (saysThatItIsThere(error)) return false;
      throw error;
    }
  }
}

function recordOf({ id, fingerprint, context }: ClaimItem): Values {
  const { owner, tenant = null, operation = null, key, leaseMs = null } = context;
  return { id, fingerprint, owner, tenant, operation, key, leaseMs };
}

/** A tombstone that has ended has to go first; its claim is made by itself. */
function foundIn(rows: ReadonlyMap<string, Row>, { id }: ClaimItem): Row | undefined {
  const row = rows.get(nameOf(id));
  return row !== undefined && isTrue(row, 'is_there') ? row : undefined;
}

/**
 * The fingerprint comes before the state, and what is stored is handed to nobody who asks with
 * another one.
 */
function claimOf(
  row: Row,
  { key, fingerprint, context }: ClaimItem,
  codec: ResponseCodec,
): Claim | Promise<Claim> {
  if (!holds(row, 'fingerprint', fingerprint)) return { kind: 'conflict' };
  const state = Number(row['state']);
  if (state === PENDING) {
    if (!holds(row, 'owner', context.owner)) {
      return { kind: 'pending', leaseOver: isTrue(row, 'lease_over') };
    }
    return { kind: 'new', attempt: Number(row['attempt']) };
  }
  if (state !== COMPLETED) throw unknownState();
  return isTrue(row, 'ended') ? { kind: 'expired' } : replayOf(row, key, codec);
}

async function replayOf(row: Row, key: string, codec: ResponseCodec): Promise<Claim> {
  return { kind: 'replay', response: await codec.decode(key, ...responseIn(row)) };
}

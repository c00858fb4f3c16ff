import type { Retention } from '../retention.ts';
import { ForIds, SELECT_APART } from './batch.ts';
import type { Row } from './driver.ts';
import { COMPLETED, PENDING } from './record-row.ts';
import type { MySqlSession } from './session.ts';
import { queryOf } from './statement.ts';
import { earlier, type Table } from './table.ts';

/**
 * What retention has ended, oldest first. A plain SELECT: one that locks would lock each row that
 * it reads, pending ones among them. What was made within the retention cannot have ended, and by
 * the index on age it is not even looked at.
 */
const ended = (table: Table, isTombstone: 0 | 1, end: string, limit: number) =>
  table.statement(
    (now) => `
select id from ${table.name} force index (${table.index})
 where tombstone = ${isTombstone} and created_at <= ${earlier(now, ':retentionMs')}
   and state <> ${PENDING} and ${end} <= ${now}
 order by created_at limit ${limit}`,
  );

/**
 * Those of them that no other replica works at. The order of the tables is fixed: in the other one
 * all rows would be read, and those that somebody has locked be waited for.
 */
const free = (table: Table, verb: string, ended: (now: string) => string, change: string) =>
  new ForIds(
    table,
    () => `${verb} (${SELECT_APART} from ${table.name} force index (primary) where id in`,
    (now) => `and ${ended(now)} for update skip locked) as free
  straight_join ${table.name} as r force index (primary) on r.id = free.id ${change}`,
  );

const forget = (table: Table) =>
  free(
    table,
    'delete r from',
    (now) => `tombstone = 1 and state <> ${PENDING} and forget_at <= ${now}`,
    '',
  );

/** The response goes; key, fingerprint, owner and attempt stay. */
const entomb = (table: Table) =>
  free(
    table,
    'update',
    (now) => `tombstone = 0 and state = ${COMPLETED} and expires_at <= ${now}`,
    'set r.tombstone = 1, r.response_head = null, r.response_body = null',
  );

export class PruneVerb {
  readonly #session: MySqlSession;
  readonly #table: Table;
  readonly #retention: Retention;
  readonly #forget: ForIds;
  readonly #entomb: ForIds;

  constructor(session: MySqlSession, table: Table, retention: Retention) {
    this.#session = session;
    this.#table = table;
    this.#retention = retention;
    this.#forget = forget(table);
    this.#entomb = entomb(table);
  }

  /** Answers how many records it changed. */
  async run(limit: number, endMs: number): Promise<number> {
    const forgotten = await this.#forgetSome(limit, endMs);
    if (forgotten >= limit) return forgotten;
    return forgotten + (await this.#entombSome(limit - forgotten, endMs));
  }

  async #forgetSome(limit: number, endMs: number): Promise<number> {
    const { resultRetentionMs, tombstoneRetentionMs } = this.#retention;
    const retentionMs = resultRetentionMs + tombstoneRetentionMs;
    const ids = await this.#ended(1, 'forget_at', retentionMs, limit, endMs);
    return ids.length === 0 ? 0 : this.#session.write(this.#forget.queryOf(ids), endMs);
  }

  async #entombSome(limit: number, endMs: number): Promise<number> {
    const { resultRetentionMs } = this.#retention;
    const ids = await this.#ended(0, 'expires_at', resultRetentionMs, limit, endMs);
    return ids.length === 0 ? 0 : this.#session.write(this.#entomb.queryOf(ids), endMs);
  }

  async #ended(
    isTombstone: 0 | 1,
    end: string,
    retentionMs: number,
    limit: number,
    endMs: number,
  ): Promise<{ readonly id: Buffer }[]> {
    const statement = ended(this.#table, isTombstone, end, limit);
    const query = { ...queryOf(statement, { retentionMs }), isFixed: false };
    const rows = await this.#session.read(query, endMs);
    return rows.flatMap(({ id }: Row) => (Buffer.isBuffer(id) ? [{ id }] : []));
  }
}

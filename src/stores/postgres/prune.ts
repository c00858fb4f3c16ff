import type { Retention } from '../retention.ts';
import type { Statement } from './driver.ts';
import { COMPLETED, PENDING } from './record-row.ts';
import type { PostgresSession } from './session.ts';
import type { Table } from './table.ts';

/**
 * What retention has ended, oldest first, as far as it is not pending and no other replica works at
 * it. `$2` is the retention in milliseconds: what was made later cannot have ended, and by the
 * index on age it is not even looked at.
 */
const ended = (table: Table, isTombstone: boolean, end: string, now: string) => `
  select ctid from ${table.name}
   where tombstone = ${isTombstone} and created_at <= ${now} - $2::float8 * interval '1 ms'
     and state <> ${PENDING} and ${end} <= ${now}
   order by created_at limit $1::int for update skip locked`;

const forget = (table: Table) =>
  table.statement(
    'prune_forget',
    ['id'],
    2,
    (now) => `
with ended as materialized (${ended(table, true, 'forget_at', now)})
delete from ${table.name}
 where ctid = any (array(select ctid from ended)) and tombstone and forget_at <= ${now}
returning 1::text as id`,
  );

/** The response goes; key, fingerprint, owner and attempt stay. */
const entomb = (table: Table) =>
  table.statement(
    'prune_entomb',
    ['id'],
    2,
    (now) => `
with ended as materialized (${ended(table, false, 'expires_at', now)})
update ${table.name} set tombstone = true, head = null, body = null
 where ctid = any (array(select ctid from ended)) and state = ${COMPLETED} and expires_at <= ${now}
returning 1::text as id`,
  );

export class PruneVerb {
  readonly #session: PostgresSession;
  readonly #retention: Retention;
  readonly #forget: Statement;
  readonly #entomb: Statement;

  constructor(session: PostgresSession, table: Table, retention: Retention) {
    this.#session = session;
    this.#retention = retention;
    this.#forget = forget(table);
    this.#entomb = entomb(table);
  }

  /** Answers how many records it changed. */
  async run(limit: number, endMs: number): Promise<number> {
    const { resultRetentionMs, tombstoneRetentionMs } = this.#retention;
    const allMs = resultRetentionMs + tombstoneRetentionMs;
    const forgotten = await this.#count(this.#forget, [limit, allMs], endMs);
    if (forgotten >= limit) return forgotten;
    const rest = [limit - forgotten, resultRetentionMs];
    return forgotten + (await this.#count(this.#entomb, rest, endMs));
  }

  async #count(statement: Statement, values: number[], endMs: number): Promise<number> {
    const rows = await this.#session.run(statement, [...values], endMs);
    return rows.length;
  }
}

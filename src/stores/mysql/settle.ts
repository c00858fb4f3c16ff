import { randomUUID } from 'node:crypto';
import type { SettleAnswer, Settlement, SettlementNote } from '../../core/recovery-capabilities.ts';
import { settlementText } from '../kept-settlement.ts';
import type { ResponseCodec } from '../response-columns.ts';
import type { Retention } from '../retention.ts';
import { COMPLETED, holds, isThere, isTrue, PENDING } from './record-row.ts';
import { type MySqlSession, SERVER_COLUMNS } from './session.ts';
import { queryOf, type Statement, type Values } from './statement.ts';
import { later, type Table } from './table.ts';

const leaseHolds = (now: string) => `(lease_until is not null and lease_until > ${now})`;

const mayBeSettled = (now: string) =>
  `id = :id and state = ${PENDING} and (:force = 1 or ${leaseHolds(now)} = 0)`;

/** The record gets an owner that nobody has: whoever wakes up is fenced out. */
const complete = (table: Table) =>
  table.statement(
    (now) => `
update ${table.name}
   set state = ${COMPLETED}, owner = :owner, response_head = :head, response_body = :body,
       settlement = :settlement,
       lease_until = null, completed_at = ${now}, expires_at = ${later(now, ':resultMs')},
       forget_at = ${later(now, '(:resultMs + :tombstoneMs)')}
 where ${mayBeSettled(now)}`,
  );

/** As a release, by an operator's word: the number of a record that was taken over stays. */
const free = (table: Table) =>
  table.statement((now) => `delete from ${table.name} where attempt = 1 and ${mayBeSettled(now)}`);

const endLease = (table: Table) =>
  table.statement(
    (now) => `
update ${table.name} set lease_until = ${now}, settlement = :settlement
 where attempt > 1 and ${mayBeSettled(now)}`,
  );

const whyNot = (table: Table) =>
  table.statement(
    (now) => `
select state = ${PENDING} as is_pending, ${leaseHolds(now)} as lease_holds, settlement,
       ${SERVER_COLUMNS}
  from ${table.name} where id = :id and ${isThere(now)}`,
  );

export class SettleVerb {
  readonly #session: MySqlSession;
  readonly #codec: ResponseCodec;
  readonly #retention: Retention;
  readonly #complete: Statement;
  readonly #free: Statement;
  readonly #endLease: Statement;
  readonly #whyNot: Statement;

  constructor(session: MySqlSession, table: Table, codec: ResponseCodec, retention: Retention) {
    this.#session = session;
    this.#codec = codec;
    this.#retention = retention;
    this.#complete = complete(table);
    this.#free = free(table);
    this.#endLease = endLease(table);
    this.#whyNot = whyNot(table);
  }

  async run(
    key: string,
    id: Buffer,
    settlement: Settlement,
    note: SettlementNote,
    force: boolean,
    endMs: number,
  ): Promise<SettleAnswer> {
    const { kind } = settlement;
    const text = settlementText({ kind, ...note, forced: force });
    const values = { id, force, settlement: text };
    if (kind === 'never-started') {
      if (await this.#changes(this.#free, values, endMs)) return 'settled';
      if (await this.#changes(this.#endLease, values, endMs)) return 'settled';
      return this.#whyNotSettled(id, endMs, text);
    }
    const columns = await this.#codec.encode(key, settlement.response);
    const all = { ...values, ...columns, owner: randomUUID(), ...this.#retentions() };
    if (await this.#changes(this.#complete, all, endMs)) return 'settled';
    return this.#whyNotSettled(id, endMs);
  }

  async #changes(statement: Statement, values: Values, endMs: number): Promise<boolean> {
    return (await this.#session.write(queryOf(statement, values), endMs)) > 0;
  }

  /** `text` is what an end of the lease would have written. */
  async #whyNotSettled(id: Buffer, endMs: number, text?: string): Promise<SettleAnswer> {
    const [row] = await this.#session.read(queryOf(this.#whyNot, { id }), endMs);
    if (row === undefined) return 'absent';
    if (!isTrue(row, 'is_pending')) return 'not-pending';
    // Without CLIENT_FOUND_ROWS a row that is as it was to be does not count as changed.
    const isAsAsked = text !== undefined && holds(row, 'settlement', text);
    return isAsAsked && !isTrue(row, 'lease_holds') ? 'settled' : 'lease-holds';
  }

  #retentions(): { readonly resultMs: number; readonly tombstoneMs: number } {
    const { resultRetentionMs, tombstoneRetentionMs } = this.#retention;
    return { resultMs: resultRetentionMs, tombstoneMs: tombstoneRetentionMs };
  }
}

import { randomUUID } from 'node:crypto';
import type { SettleAnswer, Settlement, SettlementNote } from '../../core/recovery-capabilities.ts';
import { settlementText } from '../kept-settlement.ts';
import type { ResponseCodec } from '../response-columns.ts';
import type { Retention } from '../retention.ts';
import type { Statement } from './driver.ts';
import { COMPLETED, isThere, PENDING } from './record-row.ts';
import { type PostgresSession, timeLeft } from './session.ts';
import type { Table } from './table.ts';

const mayBeSettled = (now: string, force: string, limit: string) =>
  `state = ${PENDING} and (${force}::boolean or lease_until is null or lease_until <= ${now})
   and set_config('lock_timeout', ${limit}, true) is not null`;

/** The record gets an owner that nobody has: whoever wakes up is fenced out. */
const complete = (table: Table) =>
  table.statement(
    'settle',
    ['outcome'],
    9,
    (now) => `
update ${table.name}
   set state = ${COMPLETED}, owner = $2, head = $3, body = $4, settlement = $5, lease_until = null,
       completed_at = ${now}, expires_at = ${now} + $6::float8 * interval '1 ms',
       forget_at = ${now} + ($6::float8 + $7::float8) * interval '1 ms'
 where id = $1 and ${mayBeSettled(now, '$8', '$9')}
returning 'settled' as outcome`,
  );

/** As a release, by an operator's word: the number of a record that was taken over stays. */
const free = (table: Table) =>
  table.statement(
    'settle_free',
    ['outcome'],
    4,
    (now) => `
with freed as (
  delete from ${table.name} where id = $1 and attempt = 1 and ${mayBeSettled(now, '$3', '$4')}
  returning id
), ended as (
  update ${table.name} set lease_until = ${now}, settlement = $2
   where id = $1 and attempt > 1 and ${mayBeSettled(now, '$3', '$4')}
  returning id
)
select 'settled' as outcome from freed union all select 'settled' from ended`,
  );

const whyNot = (table: Table) =>
  table.statement(
    'settle_not',
    ['state'],
    1,
    (now) => `
select state::text as state from ${table.name} where id = $1 and ${isThere(now)}`,
  );

export class SettleVerb {
  readonly #session: PostgresSession;
  readonly #codec: ResponseCodec;
  readonly #retention: Retention;
  readonly #complete: Statement;
  readonly #free: Statement;
  readonly #whyNot: Statement;

  constructor(session: PostgresSession, table: Table, codec: ResponseCodec, retention: Retention) {
    this.#session = session;
    this.#codec = codec;
    this.#retention = retention;
    this.#complete = complete(table);
    this.#free = free(table);
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
    const statement = kind === 'never-started' ? this.#free : this.#complete;
    const values =
      kind === 'never-started'
        ? [id, text, force]
        : [id, randomUUID(), ...(await this.#columns(key, settlement.response, text)), force];
    const [settled] = await this.#session.run(
      statement,
      [...values, String(timeLeft(endMs))],
      endMs,
    );
    return settled === undefined ? this.#whyNotSettled(id, endMs) : 'settled';
  }

  async #columns(
    key: string,
    response: Parameters<ResponseCodec['encode']>[1],
    text: string,
  ): Promise<unknown[]> {
    const { head, body } = await this.#codec.encode(key, response);
    const { resultRetentionMs, tombstoneRetentionMs } = this.#retention;
    return [head, body, text, resultRetentionMs, tombstoneRetentionMs];
  }

  async #whyNotSettled(id: Buffer, endMs: number): Promise<SettleAnswer> {
    const values = [id];
    const [row] = await this.#session.run(this.#whyNot, values, endMs);
    if (row === undefined) return 'absent';
    return Number(row['state']) === PENDING ? 'lease-holds' : 'not-pending';
  }
}

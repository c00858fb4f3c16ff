import { FencedError } from '../../core/errors.ts';
import type { TakeOver } from '../../core/recovery-capabilities.ts';
import type { Attempt } from '../../core/store.ts';
import type { Statement } from './driver.ts';
import { PENDING } from './record-row.ts';
import { type PostgresSession, timeLeft } from './session.ts';
import type { Table } from './table.ts';

/**
 * Of all who ask at once one has the row; the others skip it, as they skip one that its owner has
 * locked in an open transaction, which shows that the owner lives. Whose call took and lost its
 * reply finds itself as the owner.
 */
const takeOver = (table: Table) =>
  table.statement(
    'take_over',
    ['answer', 'attempt'],
    6,
    (now) => `
with held as materialized (
  select id, owner = $3 as mine, attempt, coalesce(lease_until <= ${now}, false) as is_over,
         coalesce(created_at >= ${now} - $5::float8 * interval '1 ms', true) as is_within
    from ${table.name}
   where id = $1 and fingerprint = $2 and state = ${PENDING}
     for update skip locked
), taken as (
  update ${table.name} as r
     set owner = $3, attempt = r.attempt + 1, lease_until = ${now} + $4::float8 * interval '1 ms'
    from held
   where r.id = $1 and held.is_over and held.is_within and not held.mine
     and set_config('lock_timeout', $6, true) is not null
  returning r.attempt
)
select 'taken' as answer, attempt::text as attempt from taken
union all
select case when mine then 'taken' when is_over and not is_within then 'too-late'
            else 'not-taken' end, attempt::text
  from held where not exists (select from taken)`,
  );

/** Compares the owner and nothing else: a renewal whose reply was lost may come again. */
const renew = (table: Table) =>
  table.statement(
    'renew',
    ['outcome'],
    4,
    (now) => `
update ${table.name} set lease_until = ${now} + $3::float8 * interval '1 ms'
 where id = $1 and owner = $2 and state = ${PENDING}
   and set_config('lock_timeout', $4, true) is not null
returning 'renewed' as outcome`,
  );

/** What is done with leases, all by the server's clock. */
export class LeaseVerbs {
  readonly #session: PostgresSession;
  readonly #takeOver: Statement;
  readonly #renew: Statement;

  constructor(session: PostgresSession, table: Table) {
    this.#session = session;
    this.#takeOver = takeOver(table);
    this.#renew = renew(table);
  }

  async takeOver(
    id: Buffer,
    fingerprint: string,
    { owner, leaseMs }: Attempt,
    withinMs: number | undefined,
    endMs: number,
  ): Promise<TakeOver> {
    const limits = [leaseMs ?? null, withinMs ?? null, String(timeLeft(endMs))];
    const values = [id, fingerprint, owner, ...limits];
    const [row] = await this.#session.run(this.#takeOver, values, endMs);
    switch (row?.['answer']) {
      case 'taken':
        return { kind: 'taken', attempt: Number(row['attempt']) };
      case 'too-late':
        return { kind: 'too-late' };
      default:
        return { kind: 'not-taken' };
    }
  }

  /** @throws {FencedError} the record is absent, completed or another owner's. */
  async renew(id: Buffer, owner: string, leaseMs: number, endMs: number): Promise<void> {
    const values = [id, owner, leaseMs, String(timeLeft(endMs))];
    const [renewed] = await this.#session.run(this.#renew, values, endMs);
    if (renewed === undefined) throw new FencedError();
  }
}

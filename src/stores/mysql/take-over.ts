import { FencedError } from '../../core/errors.ts';
import type { TakeOver } from '../../core/recovery-capabilities.ts';
import type { Attempt } from '../../core/store.ts';
import { SELECT_APART } from './batch.ts';
import { holds, isTrue, PENDING } from './record-row.ts';
import { type MySqlSession, SERVER_COLUMNS } from './session.ts';
import { queryOf, type Statement } from './statement.ts';
import { earlier, later, type Table } from './table.ts';

const isWithin = (now: string) =>
  `(:withinMs is null or created_at >= ${earlier(now, ':withinMs')})`;

/**
 * Of all who ask at once one has the row; the others skip it, as they skip one that its owner has
 * locked in an open transaction, which shows that the owner lives.
 */
const takeOver = (table: Table) =>
  table.statement(
    (now) => `
update (
  ${SELECT_APART} from ${table.name} force index (primary)
   where id = :id and fingerprint = :fingerprint and state = ${PENDING} and owner <> :owner
     and lease_until <= ${now} and ${isWithin(now)}
     for update skip locked
) as held straight_join ${table.name} as r force index (primary) on r.id = held.id
   set r.owner = :owner, r.attempt = r.attempt + 1, r.lease_until = ${later(now, ':leaseMs')}`,
  );

/** What came of it, which also answers a call that took and lost its reply. */
const outcome = (table: Table) =>
  table.statement(
    (now) => `
select owner, attempt, coalesce(lease_until <= ${now}, 0) as lease_over,
       ${isWithin(now)} as is_within, ${SERVER_COLUMNS}
  from ${table.name} where id = :id and fingerprint = :fingerprint and state = ${PENDING}`,
  );

/** Compares the owner and nothing else: a renewal whose reply was lost may come again. */
const renew = (table: Table) =>
  table.statement(
    (now) => `
update ${table.name} set lease_until = ${later(now, ':leaseMs')}
 where id = :id and owner = :owner and state = ${PENDING}`,
  );

/** Without CLIENT_FOUND_ROWS a renewal within the same millisecond does not count as a change. */
const isOwned = (table: Table) =>
  table.statement(
    () => `
select owner, ${SERVER_COLUMNS} from ${table.name} where id = :id and state = ${PENDING}`,
  );

/** What is done with leases, all by the server's clock. */
export class LeaseVerbs {
  readonly #session: MySqlSession;
  readonly #takeOver: Statement;
  readonly #outcome: Statement;
  readonly #renew: Statement;
  readonly #isOwned: Statement;

  constructor(session: MySqlSession, table: Table) {
    this.#session = session;
    this.#takeOver = takeOver(table);
    this.#outcome = outcome(table);
    this.#renew = renew(table);
    this.#isOwned = isOwned(table);
  }

  async takeOver(
    id: Buffer,
    fingerprint: string,
    { owner, leaseMs }: Attempt,
    withinMs: number | undefined,
    endMs: number,
  ): Promise<TakeOver> {
    const lease = { leaseMs: leaseMs ?? null, withinMs: withinMs ?? null };
    const values = { id, fingerprint, owner, ...lease };
    await this.#session.write(queryOf(this.#takeOver, values), endMs);
    const [row] = await this.#session.read(queryOf(this.#outcome, values), endMs);
    if (row === undefined) return { kind: 'not-taken' };
    if (holds(row, 'owner', owner)) return { kind: 'taken', attempt: Number(row['attempt']) };
    const isTooLate = isTrue(row, 'lease_over') && !isTrue(row, 'is_within');
    return { kind: isTooLate ? 'too-late' : 'not-taken' };
  }

  /** @throws {FencedError} the record is absent, completed or another owner's. */
  async renew(id: Buffer, owner: string, leaseMs: number, endMs: number): Promise<void> {
    const values = { id, owner, leaseMs };
    if ((await this.#session.write(queryOf(this.#renew, values), endMs)) > 0) return;
    const [row] = await this.#session.read(queryOf(this.#isOwned, values), endMs);
    if (row === undefined || !holds(row, 'owner', owner)) throw new FencedError();
  }
}

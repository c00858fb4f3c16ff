import type { Statement } from './driver.ts';
import { PENDING } from './record-row.ts';
import { type PostgresSession, timeLeft } from './session.ts';
import type { Table } from './table.ts';

/**
 * Acts only for the owner of a pending record. One that was taken over keeps its number, so that
 * its key never begins again at 1 while an older attempt may wake up: there only the lease ends.
 */
const release = (table: Table) =>
  table.statement(
    'release',
    [],
    3,
    (now) => `
with freed as (
  delete from ${table.name}
   where id = $1 and owner = $2 and state = ${PENDING} and attempt = 1
     and set_config('lock_timeout', $3, true) is not null
)
update ${table.name} set lease_until = ${now}
 where id = $1 and owner = $2 and state = ${PENDING} and attempt > 1
   and set_config('lock_timeout', $3, true) is not null`,
  );

export class ReleaseVerb {
  readonly #session: PostgresSession;
  readonly #release: Statement;

  constructor(session: PostgresSession, table: Table) {
    this.#session = session;
    this.#release = release(table);
  }

  async run(id: Buffer, owner: string, endMs: number): Promise<void> {
    const values = [id, owner, String(timeLeft(endMs))];
    await this.#session.run(this.#release, values, endMs);
  }
}

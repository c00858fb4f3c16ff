import { PENDING } from './record-row.ts';
import type { MySqlSession } from './session.ts';
import { queryOf, type Statement } from './statement.ts';
import type { Table } from './table.ts';

/** Both act only for the owner of a pending record. */
const free = (table: Table) =>
  table.statement(
    () => `
delete from ${table.name}
 where id = :id and owner = :owner and state = ${PENDING} and attempt = 1`,
  );

/**
 * A record that was taken over keeps its number, so that its key never begins again at 1 while an
 * older attempt may wake up: there only the lease ends.
 */
const endLease = (table: Table) =>
  table.statement(
    (now) => `
update ${table.name} set lease_until = ${now}
 where id = :id and owner = :owner and state = ${PENDING} and attempt > 1`,
  );

export class ReleaseVerb {
  readonly #session: MySqlSession;
  readonly #free: Statement;
  readonly #endLease: Statement;

  constructor(session: MySqlSession, table: Table) {
    this.#session = session;
    this.#free = free(table);
    this.#endLease = endLease(table);
  }

  async run(id: Buffer, owner: string, endMs: number): Promise<void> {
    const values = { id, owner };
    if ((await this.#session.write(queryOf(this.#free, values), endMs)) > 0) return;
    await this.#session.write(queryOf(this.#endLease, values), endMs);
  }
}

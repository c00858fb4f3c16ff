import type { Answer, Send } from './driver.ts';
import { textOf } from './record-row.ts';

/** What a connection says of itself and its server, and what does not change while it is open. */
export interface ConnectionFacts {
  /** MariaDB takes limits for a single statement, MySQL for a single SELECT only. */
  readonly isMariaDb: boolean;
  /** Without it no statement is a transaction of its own. */
  readonly isAutocommit: boolean;
  /** Whether a SELECT sees what may yet be rolled back. */
  readonly readsUncommitted: boolean;
  /** The server hangs up on whoever sends a longer statement. */
  readonly maxPacketBytes: number;
}

/** Under all names that versions of MySQL and MariaDB give to the isolation level. */
const READ = `show variables where Variable_name in
  ('version', 'autocommit', 'tx_isolation', 'transaction_isolation', 'max_allowed_packet')`;

export async function readFacts(send: Send): Promise<ConnectionFacts> {
  const found = variablesOf(await send({ text: READ, values: [], isFixed: false }));
  const isolation = found.get('transaction_isolation') ?? found.get('tx_isolation');
  return {
    isMariaDb: /mariadb/i.test(found.get('version') ?? ''),
    isAutocommit: found.get('autocommit') !== 'OFF',
    readsUncommitted: isolation === 'READ-UNCOMMITTED',
    maxPacketBytes: Number(found.get('max_allowed_packet')),
  };
}

/** What SHOW VARIABLES answers, by name. */
export function variablesOf({ rows }: Answer): ReadonlyMap<string, string> {
  return new Map(
    rows.map((row) => [textOf(row, 'Variable_name') ?? '', textOf(row, 'Value') ?? '']),
  );
}

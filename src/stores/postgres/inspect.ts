import type { RecordView } from '../../core/store.ts';
import type { ResponseCodec } from '../response-columns.ts';
import type { Statement } from './driver.ts';
import { isThere, responseIn, SUMMARY_COLUMNS, summaryAt, summaryOf } from './record-row.ts';
import type { PostgresSession } from './session.ts';
import type { Table } from './table.ts';

/**
 * What a standby says may be old, and is never taken for the truth: `for key share` is refused
 * there with the same error as a write. On the primary it would wait for nobody but a deletion, and
 * with SKIP LOCKED not even for that; so that it marks no row, it looks at none.
 */
const inspect = (table: Table) =>
  table.statement(
    'inspect',
    [...SUMMARY_COLUMNS, 'head', 'body'],
    1,
    (now) => `
with primary_only as materialized (
  select from ${table.name} where false for key share skip locked
)
select ${summaryAt(now)}, head, encode(body, 'base64') as body
  from ${table.name} where id = $1 and ${isThere(now)}
   and not exists (select from primary_only)`,
  );

export class InspectVerb {
  readonly #session: PostgresSession;
  readonly #codec: ResponseCodec;
  readonly #inspect: Statement;

  constructor(session: PostgresSession, table: Table, codec: ResponseCodec) {
    this.#session = session;
    this.#codec = codec;
    this.#inspect = inspect(table);
  }

  async run(key: string, id: Buffer, endMs: number): Promise<RecordView | undefined> {
    const values = [id];
    const [row] = await this.#session.run(this.#inspect, values, endMs);
    if (row === undefined) return undefined;
    const summary = summaryOf(row);
    if (summary.state !== 'completed') return { ...summary, response: undefined };
    return { ...summary, response: await this.#codec.decode(key, ...responseIn(row)) };
  }
}

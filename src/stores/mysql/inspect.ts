import type { RecordView } from '../../core/store.ts';
import type { ResponseCodec } from '../response-columns.ts';
import {
  isThere,
  isTrue,
  RESPONSE_COLUMNS,
  responseIn,
  summaryAt,
  summaryOf,
} from './record-row.ts';
import { type MySqlSession, SERVER_COLUMNS } from './session.ts';
import { queryOf, type Statement } from './statement.ts';
import type { Table } from './table.ts';

/** One row in any case: what a replica does not have is not taken for the truth either. */
const inspect = (table: Table) =>
  table.statement(
    (now) => `
select ${SERVER_COLUMNS}, r.* from (select 1) as one left join (
  select 1 as is_found, ${summaryAt(now)}, ${RESPONSE_COLUMNS}
    from ${table.name} where id = :id and ${isThere(now)}) as r on true`,
  );

export class InspectVerb {
  readonly #session: MySqlSession;
  readonly #codec: ResponseCodec;
  readonly #inspect: Statement;

  constructor(session: MySqlSession, table: Table, codec: ResponseCodec) {
    this.#session = session;
    this.#codec = codec;
    this.#inspect = inspect(table);
  }

  async run(key: string, id: Buffer, endMs: number): Promise<RecordView | undefined> {
    const [row] = await this.#session.read(queryOf(this.#inspect, { id }), endMs);
    if (row === undefined || !isTrue(row, 'is_found')) return undefined;
    const summary = summaryOf(row);
    if (summary.state !== 'completed') return { ...summary, response: undefined };
    return { ...summary, response: await this.#codec.decode(key, ...responseIn(row)) };
  }
}

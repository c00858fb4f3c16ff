import type { ListCapability, ListedRecord, ListOptions } from '../../core/store.ts';
import { checkListOptions } from '../list-options.ts';
import { listedRecordKey } from '../listed-record-key.ts';
import type { Row } from './driver.ts';
import { isThere, PENDING, SUMMARY_COLUMNS, stateAt, summaryAt, summaryOf } from './record-row.ts';
import type { PostgresSession } from './session.ts';
import type { Table } from './table.ts';

const COLUMNS = [...SUMMARY_COLUMNS, 'tenant', 'operation', 'key', 'position'];

/**
 * Oldest first. The index on age is used for each half of the table, tombstones and others, so
 * that looking for pending records costs nothing for millions of tombstones. The state comes as
 * text of ours, never of the caller.
 */
const list = (table: Table, state: ListOptions['state']) =>
  table.statement(`list_${state ?? 'all'}`, COLUMNS, 4, (now) => {
    const half = (isTombstone: boolean) => `(
  select * from ${table.name}
   where tombstone = ${isTombstone} and created_at <= ${now} - $1::float8 * interval '1 ms'
     and ($2::text is null or (created_at, id) > ($2::text::timestamptz, $3::bytea))
     and ${state === 'pending' ? `state = ${PENDING}` : isThere(now)}
     ${state === undefined || state === 'pending' ? '' : `and ${stateAt(now)} = '${state}'`}
   order by created_at, id limit $4::int)`;
    const halves = { pending: [false], completed: [false], tombstone: [true, false] };
    const parts = (state === undefined ? [true, false] : halves[state]).map(half);
    return `
select ${summaryAt(now)}, tenant, operation, idempotency_key as key,
       to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || 'Z.' ||
         encode(id, 'hex') as position
  from (${parts.join(' union all ')}) as r
 order by r.created_at, r.id limit $4::int`;
  });

export class ListVerb {
  readonly #session: PostgresSession;
  readonly #table: Table;

  constructor(session: PostgresSession, table: Table) {
    this.#session = session;
    this.#table = table;
  }

  async run(
    options: ListOptions,
    endMs: number,
  ): Promise<Awaited<ReturnType<ListCapability['list']>>> {
    checkListOptions(options, isPosition);
    const { state, olderThanMs = 0, limit = 100, after } = options;
    const [, createdAt = null, id = null] = (after && POSITION.exec(after)) || [];
    const from = [createdAt, id && Buffer.from(id, 'hex')];
    const rows = await this.#session.run(
      list(this.#table, state),
      [olderThanMs, ...from, limit],
      endMs,
    );
    const last = rows.length < limit ? undefined : rows.at(-1);
    return { records: rows.map(listedOf), after: last?.['position'] ?? undefined };
  }
}

const POSITION = /^(\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\.([0-9a-f]{64})$/;

function listedOf(row: Row): ListedRecord {
  const { tenant, operation, key, position } = row;
  const shown = {
    key: String(key),
    tenant: tenant ?? undefined,
    operation: operation ?? undefined,
  };
  const [, , id = ''] = POSITION.exec(String(position)) ?? [];
  return { ...summaryOf(row), recordKey: listedRecordKey(shown, Buffer.from(id, 'hex')), ...shown };
}

function isPosition(after: string): boolean {
  return POSITION.test(after);
}

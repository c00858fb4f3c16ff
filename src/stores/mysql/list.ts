import type { ListCapability, ListedRecord, ListOptions } from '../../core/store.ts';
import { checkListOptions } from '../list-options.ts';
import { listedRecordKey } from '../listed-record-key.ts';
import type { Row } from './driver.ts';
import { isThere, PENDING, stateAt, summaryAt, summaryOf, textOf } from './record-row.ts';
import type { MySqlSession } from './session.ts';
import { queryOf } from './statement.ts';
import { earlier, momentOf, type Table } from './table.ts';

/**
 * Oldest first. The index on age is used for each half of the table, tombstones and others, so
 * that looking for pending records costs nothing for millions of tombstones. State and limit come
 * as text of ours, never of the caller.
 */
const list = (table: Table, state: ListOptions['state'], isFirst: boolean, limit: number) =>
  table.statement((now) => {
    const half = (isTombstone: 0 | 1) => `(
  select id, created_at as made_at, ${summaryAt(now)}, tenant, operation, idempotency_key
    from ${table.name} as t force index (${table.index})
   where tombstone = ${isTombstone} and t.created_at <= ${earlier(now, ':olderThanMs')}
     ${isFirst ? '' : `and t.created_at >= ${AFTER} and (t.created_at > ${AFTER} or id > :afterId)`}
     and ${state === 'pending' ? `state = ${PENDING}` : isThere(now)}
     ${state === undefined || state === 'pending' ? '' : `and ${stateAt(now)} = '${state}'`}
   order by t.created_at, id limit ${limit})`;
    const halves = { pending: [0], completed: [0], tombstone: [1, 0] } as const;
    const parts = (state === undefined ? ([1, 0] as const) : halves[state]).map(half);
    return `
select r.* from (${parts.join(' union all ')}) as r order by r.made_at, r.id limit ${limit}`;
  });

const AFTER = momentOf(':afterMs');

export class ListVerb {
  readonly #session: MySqlSession;
  readonly #table: Table;

  constructor(session: MySqlSession, table: Table) {
    this.#session = session;
    this.#table = table;
  }

  async run(
    options: ListOptions,
    endMs: number,
  ): Promise<Awaited<ReturnType<ListCapability['list']>>> {
    checkListOptions(options, isPosition);
    const { state, olderThanMs = 0, limit = 100, after } = options;
    const [, afterMs, afterId = ''] = POSITION.exec(after ?? '') ?? [];
    const statement = list(this.#table, state, afterMs === undefined, limit);
    const from = { afterMs: Number(afterMs ?? 0), afterId: Buffer.from(afterId, 'hex') };
    const query = { ...queryOf(statement, { olderThanMs, ...from }), isFixed: false };
    const rows = await this.#session.read(query, endMs);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return { records: rows.map(listedOf), after: last && positionOf(last) };
  }
}

const POSITION = /^(\d{1,15})\.([0-9a-f]{64})$/;

function positionOf(row: Row): string {
  return `${Number(row['created_at'])}.${idOf(row).toString('hex')}`;
}

function listedOf(row: Row): ListedRecord {
  const shown = {
    key: textOf(row, 'idempotency_key') ?? '',
    tenant: textOf(row, 'tenant'),
    operation: textOf(row, 'operation'),
  };
  return { ...summaryOf(row), recordKey: listedRecordKey(shown, idOf(row)), ...shown };
}

function idOf(row: Row): Buffer {
  const { id } = row;
  return Buffer.isBuffer(id) ? id : Buffer.alloc(0);
}

function isPosition(after: string): boolean {
  return POSITION.test(after);
}

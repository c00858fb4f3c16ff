import type { ListCapability, ListedRecord, ListOptions } from '../../core/store.ts';
import { checkListOptions } from '../list-options.ts';
import { listedRecordKey } from '../listed-record-key.ts';
import type { SqliteConnection, SqliteRow } from './handle.ts';
import { COMPLETED, PENDING, SUMMARY_COLUMNS, summaryOf } from './record-row.ts';

const COLUMNS = `rowid, id, tenant, operation, idempotency_key, ${SUMMARY_COLUMNS}`;

/** Oldest first, by their partial index, however many finished records there are. */
const listPending = (table: string) =>
  `SELECT ${COLUMNS} FROM ${table}
    WHERE state = ${PENDING} AND created_at <= ? AND (created_at, rowid) > (?, ?)
    ORDER BY created_at, rowid LIMIT ?`;

/** In the order of the table, so that no page has to sort all of it. */
const listOthers = (table: string, condition: string) =>
  `SELECT ${COLUMNS} FROM ${table}
    WHERE created_at <= ? AND rowid > ? AND ${condition}
    ORDER BY rowid LIMIT ?`;

/** Judged by the clock and not by the column alone, since pruning may come late. */
const CONDITIONS = {
  any: `? < coalesce(forget_at, ${Number.MAX_SAFE_INTEGER})`,
  completed: `state = ${COMPLETED} AND ? < expires_at`,
  tombstone: `? BETWEEN expires_at AND forget_at - 1`,
};

export class ListVerb {
  readonly #connection: SqliteConnection;
  readonly #table: string;

  constructor(connection: SqliteConnection, table: string) {
    this.#connection = connection;
    this.#table = table;
  }

  look(options: ListOptions, nowMs: number): Awaited<ReturnType<ListCapability['list']>> {
    checkListOptions(options, isPosition);
    const { state = 'any', olderThanMs = 0, limit = 100, after } = options;
    const [createdAt, rowid] = positionOf(after);
    const createdBy = nowMs - olderThanMs;
    const table = this.#table;
    const rows =
      state === 'pending'
        ? this.#connection.all(listPending(table), createdBy, createdAt, rowid, limit)
        : this.#connection.all(
            listOthers(table, CONDITIONS[state]),
            createdBy,
            rowid,
            nowMs,
            limit,
          );
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      records: rows.map((row) => listedOf(row, nowMs)),
      after: last && `${last['created_at']}.${last['rowid']}`,
    };
  }
}

const POSITION = /^(\d{1,15})\.(\d{1,15})$/;

function positionOf(after: string | undefined): [createdAt: number, rowid: number] {
  if (after === undefined) return [-1, -1];
  const [, createdAt, rowid] = POSITION.exec(after) ?? [];
  return [Number(createdAt), Number(rowid)];
}

function listedOf(row: SqliteRow, nowMs: number): ListedRecord {
  const { id, tenant, operation, idempotency_key: key } = row;
  const shown = {
    key: String(key),
    tenant: tenant === null ? undefined : String(tenant),
    operation: operation === null ? undefined : String(operation),
  };
  const recordKey = listedRecordKey(shown, Buffer.from(id as Uint8Array));
  return { ...summaryOf(row, nowMs), recordKey, ...shown };
}

function isPosition(after: string): boolean {
  return POSITION.test(after);
}

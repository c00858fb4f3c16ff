import type { Label } from './label.ts';
import { FIRST_NUMBER, numberOf } from './label-number.ts';
import type { Labels } from './labels.ts';

/** A pool of `pg`, or one of its connections in a transaction. */
export interface PostgresQueries {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** The labels of the service in PostgreSQL. All replicas count together. */
export class PostgresLabels implements Labels {
  readonly #pool: PostgresQueries;

  constructor(pool: PostgresQueries) {
    this.#pool = pool;
  }

  /** Makes the table. Safe when many replicas do it at once. */
  async migrate(): Promise<void> {
    await this.#pool.query(CREATE_TABLE);
  }

  readonly create: Labels['create'] = async (operation, _context, tx) => {
    const { request_id, parcel_id } = operation;
    const queries = (tx as PostgresQueries | undefined) ?? this.#pool;
    const { rows } = await queries.query(INSERT, [request_id, parcel_id]);
    const { number } = rows[0] as { readonly number: string };
    return { label_id: `label-${number}`, request_id, parcel_id };
  };

  readonly find: Labels['find'] = async (label_id) => {
    const number = numberOf(label_id);
    if (number === undefined) return undefined;
    const { rows } = await this.#pool.query(SELECT, [number]);
    const [row] = rows as Omit<Label, 'label_id'>[];
    return row === undefined ? undefined : { label_id, ...row };
  };
}

/** One text is one transaction. Two replicas that make one table at once would fail without it. */
const CREATE_TABLE = `
  SELECT pg_advisory_xact_lock(hashtext('labels'));
  CREATE TABLE IF NOT EXISTS labels (
    number bigint GENERATED ALWAYS AS IDENTITY (START WITH ${FIRST_NUMBER}) PRIMARY KEY,
    request_id text NOT NULL,
    parcel_id text NOT NULL
  )`;
const INSERT = 'INSERT INTO labels (request_id, parcel_id) VALUES ($1, $2) RETURNING number';
const SELECT = 'SELECT request_id, parcel_id FROM labels WHERE number = $1';

import type { Label } from './label.ts';
import { FIRST_NUMBER, numberOf } from './label-number.ts';
import type { Labels } from './labels.ts';

/** A promise pool of `mysql2`, or one of its connections in a transaction. */
export interface MysqlQueries {
  query(text: string, values?: unknown[]): PromiseLike<[result: unknown, columns: unknown]>;
}

/** The labels of the service in MySQL or MariaDB. All replicas count together. */
export class MysqlLabels implements Labels {
  readonly #pool: MysqlQueries;

  constructor(pool: MysqlQueries) {
    this.#pool = pool;
  }

  /** Makes the table. Safe when many replicas do it at once. */
  async migrate(): Promise<void> {
    await this.#pool.query(CREATE_TABLE);
  }

  readonly create: Labels['create'] = async (operation, _context, tx) => {
    const { request_id, parcel_id } = operation;
    const queries = (tx as MysqlQueries | undefined) ?? this.#pool;
    const [result] = await queries.query(INSERT, [request_id, parcel_id]);
    const { insertId } = result as { readonly insertId: number };
    return { label_id: `label-${insertId}`, request_id, parcel_id };
  };

  readonly find: Labels['find'] = async (label_id) => {
    const number = numberOf(label_id);
    if (number === undefined) return undefined;
    const [rows] = await this.#pool.query(SELECT, [number]);
    const [row] = rows as Omit<Label, 'label_id'>[];
    return row === undefined ? undefined : { label_id, ...row };
  };
}

/** Both ids are ASCII, and their case counts. */
const CREATE_TABLE = `
  CREATE TABLE IF NOT EXISTS labels (
    number bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    request_id text CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    parcel_id text CHARACTER SET ascii COLLATE ascii_bin NOT NULL
  ) ENGINE = InnoDB AUTO_INCREMENT = ${FIRST_NUMBER}`;
const INSERT = 'INSERT INTO labels (request_id, parcel_id) VALUES (?, ?)';
const SELECT = 'SELECT request_id, parcel_id FROM labels WHERE number = ?';

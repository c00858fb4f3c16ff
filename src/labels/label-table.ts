import type { Label } from './label.ts';
import { FIRST_NUMBER, numberOf } from './label-number.ts';
import type { LabelOperation } from './label-operation.ts';
import { isBusy, openSqlite, type SqliteHandle, type SqliteStatement } from './sqlite-handle.ts';
import { unlessBusy } from './unless-busy.ts';

/**
 * The labels of the service: a table in the SQLite file that also holds the idempotency records,
 * on a connection of its own. Any number of processes may share the file.
 *
 * `request_id` is not unique in it. That one operation makes one label is what the middleware is
 * for; and a request id may come again, from another tenant or when its record has been forgotten.
 */
export class LabelTable {
  readonly #handle: SqliteHandle;
  readonly #insert: SqliteStatement;
  readonly #select: SqliteStatement;

  private constructor(handle: SqliteHandle) {
    this.#handle = handle;
    this.#insert = handle.prepare(INSERT);
    this.#select = handle.prepare(SELECT);
  }

  /** Opens the file and makes the table in it, where they are not there yet. */
  static async open(path: string): Promise<LabelTable> {
    const handle = await openSqlite(path);
    try {
      return await unlessBusy(() => {
        migrate(handle);
        return new LabelTable(handle);
      }, isBusy);
    } catch (error) {
      handle.close();
      throw error;
    }
  }

  /** Makes a label, and resolves when it is on the disk. Every call makes another one. */
  create(operation: LabelOperation): Promise<Label> {
    return unlessBusy(() => insert(this.#insert, operation), isBusy);
  }

  /**
   * Makes a label in the transaction that `commitSync` of a store on the same file has opened, on
   * the handle that it hands out. The label is there when, and only if, that commits.
   */
  createIn(tx: unknown, operation: LabelOperation): Label {
    return insert((tx as SqliteHandle).prepare(INSERT), operation);
  }

  async find(label_id: string): Promise<Label | undefined> {
    const number = numberOf(label_id);
    if (number === undefined) return undefined;
    const row = await unlessBusy(() => this.#select.get(number), isBusy);
    return row === undefined ? undefined : ({ label_id, ...(row as object) } as Label);
  }

  close(): void {
    this.#handle.close();
  }
}

/** AUTOINCREMENT: the number of a label that was deleted is not given to another one. */
const CREATE_TABLE = `
  CREATE TABLE IF NOT EXISTS labels (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL,
    parcel_id TEXT NOT NULL
  ) STRICT`;
/** SQLite keeps the last number of each table in sqlite_sequence. */
const START_NUMBERS = `
  INSERT INTO sqlite_sequence (name, seq)
  SELECT 'labels', ${FIRST_NUMBER - 1}
  WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'labels')`;
const INSERT = 'INSERT INTO labels (request_id, parcel_id) VALUES (?, ?)';
const SELECT = 'SELECT request_id, parcel_id FROM labels WHERE number = ?';

function insert(statement: SqliteStatement, { request_id, parcel_id }: LabelOperation): Label {
  const { lastInsertRowid } = statement.run(request_id, parcel_id);
  return { label_id: `label-${lastInsertRowid}`, request_id, parcel_id };
}

function migrate(handle: SqliteHandle): void {
  handle.exec('BEGIN IMMEDIATE');
  try {
    handle.exec(CREATE_TABLE);
    handle.exec(START_NUMBERS);
    handle.exec('COMMIT');
  } catch (error) {
    handle.exec('ROLLBACK');
    throw error;
  }
}

/**
 * What the store uses of an open database, by shape: `DatabaseSync` of node:sqlite and `Database`
 * of better-sqlite3 both fit, and importing this package loads neither.
 */
export interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteHandleStatement;
  close(): unknown;
}

/** A prepared statement of a {@link SqliteHandle}. */
export interface SqliteHandleStatement {
  run(...values: never[]): { readonly changes: number | bigint };
  get(...values: never[]): unknown;
  all(...values: never[]): unknown[];
}

/** What SQLite takes for a parameter. */
export type SqliteValue = null | number | string | Uint8Array;

/** A row by column name. Integers are numbers, blobs are `Uint8Array`. */
export type SqliteRow = { readonly [column: string]: SqliteValue };

/** What the two drivers have beyond their common shape, and under different names. */
interface DriverExtras {
  /** node:sqlite, from Node 22.16 and 24.0. */
  readonly isTransaction?: boolean;
  /** better-sqlite3. */
  readonly inTransaction?: boolean;
}

interface StatementExtras {
  setReadBigInts?(enabled: boolean): void;
  setReturnArrays?(enabled: boolean): void;
  safeIntegers?(enabled: boolean): void;
}

interface Statement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): SqliteRow | undefined | null;
  all(...values: SqliteValue[]): SqliteRow[];
}

/**
 * One connection, whichever driver it is of. Every statement is prepared once. Whether the user
 * has set the handle to answer with bigints or arrays makes no difference here.
 */
export class SqliteConnection {
  readonly #handle: SqliteHandle & DriverExtras;
  readonly #statements = new Map<string, Statement>();

  constructor(handle: SqliteHandle) {
    this.#handle = handle;
  }

  /** Whether a transaction is open. The store's own never is, when it is asked. */
  get isInTransaction(): boolean {
    const { isTransaction, inTransaction } = this.#handle;
    return isTransaction ?? inTransaction ?? this.#probeTransaction();
  }

  /**
   * Runs `action` while SQLite waits no longer than `waitMs` for a lock: all of the process waits
   * with it. A lent handle then has its user's own setting again.
   */
  waitAtMost<T>(waitMs: number, action: () => T): T {
    const before = Number(this.get('PRAGMA busy_timeout')?.['timeout']);
    if (before <= waitMs) return action();
    this.get(`PRAGMA busy_timeout = ${waitMs}`);
    try {
      return action();
    } finally {
      this.get(`PRAGMA busy_timeout = ${before}`);
    }
  }

  /**
   * Rolls back what is open, if SQLite does it: a transaction that stays open is found by the next
   * call, which rejects. Throws nothing, and so hides no error that came before it.
   */
  rollBack(): void {
    try {
      if (this.isInTransaction) this.run('ROLLBACK');
    } catch {
      // The error that led here says more.
    }
  }

  exec(sql: string): void {
    this.#handle.exec(sql);
  }

  get(sql: string, ...values: SqliteValue[]): SqliteRow | undefined {
    return this.#statement(sql).get(...values) ?? undefined;
  }

  all(sql: string, ...values: SqliteValue[]): SqliteRow[] {
    return this.#statement(sql).all(...values);
  }

  /** Answers how many rows were changed. */
  run(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#handle.prepare(sql) as unknown as Statement & StatementExtras;
    statement.setReadBigInts?.(false);
    statement.setReturnArrays?.(false);
    statement.safeIntegers?.(false);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Node 22 tells it from 22.16 on. A deferred BEGIN takes no lock, and fails inside of one. */
  #probeTransaction(): boolean {
    try {
      this.#handle.exec('BEGIN');
    } catch {
      return true;
    }
    this.#handle.exec('ROLLBACK');
    return false;
  }
}

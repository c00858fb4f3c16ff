/** A promise pool of `mysql2`, as far as it is used here. It is lent: the store never ends it. */
export interface MySqlPool {
  getConnection(): Promise<MySqlConnection>;
}

/** A connection that a {@link MySqlPool} lends. */
export interface MySqlConnection {
  /** With the values written into the text. */
  query(statement: MySqlStatement): PromiseLike<unknown>;
  /** With the statement prepared, and the values beside it. */
  execute(statement: MySqlStatement): PromiseLike<unknown>;
  release(): void;
  destroy(): void;
  on(event: 'error', listener: () => void): unknown;
}

/** One statement, and how its rows are read, whatever the pool is set to. */
export interface MySqlStatement {
  readonly sql: string;
  readonly values: unknown[];
  readonly rowsAsArray: false;
  readonly nestTables: false;
  readonly typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** A pool of `pg`, as far as it is used here. It is lent: the store never ends it. */
export interface PgPool {
  readonly totalCount: number;
  connect(
    callback: (
      error: Error | undefined,
      client: PgPoolClient | undefined,
      release: (error?: Error | boolean) => void,
    ) => void,
  ): void;
}

/** A connection that a {@link PgPool} lends. */
export interface PgPoolClient {
  query(
    query: { readonly name?: string; readonly text: string; readonly values: unknown[] },
    callback: (error: Error, result: { readonly rows: unknown[] }) => void,
  ): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** The `sql` of postgres.js, as far as it is used here. It is lent: the store never ends it. */
export interface PostgresJsSql {
  unsafe(
    text: string,
    values: never[],
    options: { readonly prepare: boolean },
  ): { raw(): PromiseLike<unknown> };
  reserve(): unknown;
}

/**
 * Anything that runs one statement with `$1` parameters, and answers its rows, or an object that
 * holds them as `rows`. Each call must be a transaction of its own. Since no connection of it can
 * be dropped, give it a `statement_timeout` of its own.
 */
export interface PostgresQueryable {
  query(text: string, values: unknown[]): PromiseLike<unknown>;
}

/** What a PostgreSQL store may be given: a pool of `pg`, a `sql` of postgres.js, or a query. */
export type PostgresClient = PgPool | PostgresJsSql | PostgresQueryable;

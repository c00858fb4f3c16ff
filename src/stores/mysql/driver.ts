import type { Query } from './statement.ts';

/** A row of an answer, by column. */
export type Row = { readonly [column: string]: unknown };

/** What the server says to a statement. */
export interface Answer {
  readonly rows: readonly Row[];
  /** How many rows were inserted, changed or deleted. */
  readonly changed: number;
}

/** Sends one statement on one connection. */
export type Send = (query: Query) => Promise<Answer>;

/** What is asked of the server besides. */
export interface Limits {
  /** Whether the statement only reads, which is then of committed records alone. */
  readonly isRead: boolean;
  /** Whether the server is to end the statement by itself, too. */
  readonly isBounded: boolean;
}

/** Runs statements, each as a transaction of its own, on a connection that nobody else uses. */
export interface MySqlDriver {
  /**
   * Rejects after `timeoutMs`, whatever the connection does; one whose statement was given up is
   * not used again.
   *
   * @throws what the driver throws, and {@link NotSent} when nothing was sent.
   */
  run(query: Query, timeoutMs: number, limits: Limits): Promise<Answer>;

  /** Several statements one after the other, on one connection; `endMs` is for all of them. */
  runOnOne<T>(endMs: number, use: (send: Send) => Promise<T>): Promise<T>;
}

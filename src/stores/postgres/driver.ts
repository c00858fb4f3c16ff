/** One statement of this store. */
export interface Statement {
  /** Unique for its text, so that a connection may keep it prepared under this name. */
  readonly name: string;
  readonly text: string;
  /** All of them come as text, so that no type parser of the user's driver has a say. */
  readonly columns: readonly string[];
  /** In tests: the clock whose time goes behind the other values, see {@link valuesOf}. */
  readonly now: (() => number) | undefined;
}

/** `values` with all that `statement` takes besides. */
export function valuesOf({ now }: Statement, values: unknown[]): unknown[] {
  return now === undefined ? values : [...values, now()];
}

/** A row of an answer: text by column. */
export type Row = { readonly [column: string]: string | null };

/** Runs statements, each as a transaction of its own, on a connection that nobody else uses. */
export interface PostgresDriver {
  /**
   * Rejects after `timeoutMs`, whatever the connection does; one whose statement was given up is
   * not used again.
   *
   * @throws what the driver throws, and {@link NotSent} when nothing was sent.
   */
  run(statement: Statement, values: unknown[], timeoutMs: number): Promise<Row[]>;
}

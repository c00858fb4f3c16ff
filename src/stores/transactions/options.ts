import { checkOptions, type OptionRule } from '../option-check.ts';

/** The levels of isolation that transaction adapters take, as SQL writes them. */
export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

/** The options of every transaction adapter. */
export interface TransactionAdapterOptions {
  /**
   * The isolation of the transactions. At the higher levels a commit may be refused for the sake of
   * others: then nothing was done, the key is given back, and the error passes on.
   *
   * @default what the database, or its library, is set to
   */
  readonly isolationLevel?: IsolationLevel;
}

export const ISOLATION_LEVEL: OptionRule = {
  expected: "'read committed', 'repeatable read' or 'serializable'",
  holds: (value) => /^(read committed|repeatable read|serializable)$/.test(String(value)),
};

/** @throws {IdempotencyError} `option_invalid`. */
export function checkAdapterOptions(adapter: string, options: TransactionAdapterOptions): void {
  checkOptions(adapter, options, { isolationLevel: ISOLATION_LEVEL });
}

import {
  checkArgument,
  checkOptions,
  type OptionOwner,
  type OptionRule,
} from '../../core/option-check.ts';

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

/**
 * `library` is what the adapter is made for, known by the `methods` that it needs.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function checkAdapter(
  owner: OptionOwner,
  library: unknown,
  { expected, methods }: { readonly expected: string; readonly methods: readonly string[] },
  options: TransactionAdapterOptions,
): void {
  checkLibrary(owner, library, expected, methods);
  checkOptions(owner, options, { isolationLevel: ISOLATION_LEVEL });
}

/** @throws {IdempotencyError} `option_invalid`. */
export function checkLibrary(
  owner: OptionOwner,
  library: unknown,
  expected: string,
  methods: readonly string[],
): void {
  const offered = (library ?? {}) as Record<string, unknown>;
  const isRight = methods.every((name) => typeof offered[name] === 'function');
  checkArgument(owner, isRight, library, expected);
}

import type { TransactionAdapter } from '../../../../../src/core/transaction.ts';
import type { TransactionAdapterOptions } from '../../../../../src/stores/postgres/index.ts';

/** Where a library connects to, and with how many connections at most. */
export interface LibraryAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly max: number;
}

/** A library as the tests use it: each with its own way of writing a row. */
export interface LibraryUnderTest<T> {
  /** How many round trips its begin takes, and all of a request that inserts one row. */
  readonly trips: { readonly begin: number; readonly all: number };
  /** Whether a query is sent when it is awaited, and not when it is built. */
  readonly isLazy: boolean;
  connect(address: LibraryAddress): Promise<ConnectedLibrary<T>>;
}

/** One pool of it. */
export interface ConnectedLibrary<T> {
  adapter(options?: TransactionAdapterOptions): TransactionAdapter<T>;
  /**
   * Inserts into `labels` by the means of the library. It runs when it is awaited, if not before.
   */
  insert(tx: T, name: string): PromiseLike<unknown>;
  /** A statement as text. */
  raw(tx: T, text: string): PromiseLike<unknown>;
  /** The same outside of any transaction, on the same pool. */
  query(text: string): PromiseLike<unknown>;
  /** How the handler might try to end its transaction by itself, where there are such methods. */
  readonly ends: readonly ((tx: T) => unknown)[];
  /** Runs `inside` in a savepoint, where the library has a way. */
  savepoint?(tx: T, inside: (inner: T) => Promise<unknown>): Promise<unknown>;
  close(): Promise<unknown>;
}

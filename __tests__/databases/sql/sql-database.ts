import type { MySqlStore } from '../../../src/stores/mysql/index.ts';
import type { PostgresStore, PostgresStoreOptions } from '../../../src/stores/postgres/index.ts';

export type SqlStore = PostgresStore | MySqlStore;

/** What the options of both stores are called. */
export type StoreSettings = Partial<
  Pick<PostgresStoreOptions, 'now' | 'seal' | 'acceptUnsealed'>
> & { readonly resultRetentionMs?: number; readonly tombstoneRetentionMs?: number };

export type Row = { readonly [column: string]: unknown };

/** A server of its own for one file of tests, in words that do for each dialect of SQL. */
export interface SqlDatabase {
  readonly url: string;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** A store on a pool of its own. */
  newStore(settings?: StoreSettings): SqlStore;
  /** What a statement answers that every dialect knows. */
  rows(text: string): Promise<readonly Row[]>;
  /** Locks a record in an open transaction; what it resolves with lets the record go. */
  lock(key: string): Promise<() => Promise<void>>;
  /** What the record of `key` has of a response; `undefined` where there is no record. */
  saved(key: string): Promise<Saved | undefined>;
  overwriteSaved(key: string, saved: Partial<Saved>): Promise<void>;
}

export interface Saved {
  readonly head: string | null;
  readonly body: Buffer | null;
}

export const NOTHING: Saved = { head: null, body: null };

/** Drops what the stores and the tests have made. */
export async function empty(database: SqlDatabase): Promise<void> {
  await database.rows(
    'drop table if exists idempotency_records, idempotency_records_migrations, labels',
  );
}

/** A test file's own server, from its first test to its last. */
export function serverForAll(start: () => Promise<SqlDatabase>): () => SqlDatabase {
  let database: SqlDatabase | undefined;
  beforeAll(async () => {
    database = await start();
  });
  afterAll(() => database?.stop());
  return () => {
    if (database === undefined) throw new Error('The server is not there before the first test.');
    return database;
  };
}

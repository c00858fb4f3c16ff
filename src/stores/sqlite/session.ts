import { setTimeout as delay } from 'node:timers/promises';
import { BUSY_WAIT_MS, makeDurable, readDurability, type SqliteDurability } from './durability.ts';
import type { SqliteConnection } from './handle.ts';
import { checkMigrated, migrate } from './migrations.ts';
import { busy, isBusy, toIdempotencyError } from './sqlite-error.ts';

/**
 * A connection that is fit for use: not in a transaction of somebody else, durable, migrated. What
 * was found fit is not asked again; what was not is asked at every call, so that a store becomes
 * usable as soon as its database is.
 */
export class SqliteSession {
  readonly connection: SqliteConnection;
  /** How errors call it: "The SQLite file x". */
  readonly database: string;
  readonly #table: string;
  #isFit = false;

  constructor(connection: SqliteConnection, table: string, database: string) {
    this.connection = connection;
    this.database = database;
    this.#table = table;
  }

  /** Runs statements that only read, outside of any transaction. */
  read<T>(look: () => T): T {
    try {
      this.#refuseForeignTransaction();
      this.#makeFit();
      return look();
    } catch (error) {
      throw toIdempotencyError(error, this.database);
    }
  }

  /** The same, but `undefined` while the database is locked: the way through a write is left. */
  tryRead<T>(look: () => T): T | undefined {
    try {
      return this.read(look);
    } catch (error) {
      if (isBusy((error as Error).cause)) return undefined;
      throw error;
    }
  }

  /** Begins a transaction that holds the write lock. Throws what the driver throws. */
  begin(): void {
    this.#refuseForeignTransaction();
    this.#makeFit();
    this.connection.waitAtMost(BUSY_WAIT_MS, () => this.connection.run('BEGIN IMMEDIATE'));
  }

  /** Waits for as long as several processes that start at once may take. */
  async migrate(nowMs: number): Promise<void> {
    await this.#whenUnlocked(() => {
      makeDurable(this.connection, this.database);
      migrate(this.connection, this.#table, nowMs);
      checkMigrated(this.connection, this.#table, this.database);
    });
    this.#isFit = true;
  }

  async durability(): Promise<SqliteDurability> {
    return this.#whenUnlocked(() => {
      this.#makeFit();
      return readDurability(this.connection);
    });
  }

  async #whenUnlocked<T>(action: () => T): Promise<T> {
    const endMs = performance.now() + SET_UP_TIMEOUT_MS;
    for (;;) {
      try {
        this.#refuseForeignTransaction();
        return this.connection.waitAtMost(BUSY_WAIT_MS, action);
      } catch (error) {
        const isOver = performance.now() >= endMs;
        if (isOver || !isBusy(error)) throw toIdempotencyError(error, this.database);
      }
      await delay(SET_UP_RETRY_MS * (0.5 + Math.random()));
    }
  }

  #makeFit(): void {
    if (this.#isFit) return;
    this.connection.waitAtMost(BUSY_WAIT_MS, () => {
      makeDurable(this.connection, this.database);
      checkMigrated(this.connection, this.#table, this.database);
    });
    this.#isFit = true;
  }

  #refuseForeignTransaction(): void {
    if (!this.connection.isInTransaction) return;
    throw busy(
      `Somebody else's transaction is open on the handle of ${this.database}. ` +
        'Give the store a handle of its own, or hold no transaction across an await.',
    );
  }
}

const SET_UP_TIMEOUT_MS = 10_000;
const SET_UP_RETRY_MS = 20;

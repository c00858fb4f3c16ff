import { setTimeout as delay } from 'node:timers/promises';
import { IdempotencyError } from '../../core/errors.ts';
import type { Answer, Limits, MySqlDriver, Row, Send } from './driver.ts';
import { isConflictOfOthers, NotSent, toIdempotencyError } from './mysql-error.ts';
import type { Query } from './statement.ts';

/** Statements with a deadline, repeated when the server has rolled them back for others' sake. */
export class MySqlSession {
  readonly #driver: MySqlDriver;
  readonly #table: string;

  /** `table` is what errors call it. */
  constructor(driver: MySqlDriver, table: string) {
    this.#driver = driver;
    this.#table = table;
  }

  /**
   * The committed rows of a SELECT. `endMs` is a moment of `performance.now()`.
   *
   * @throws {IdempotencyError} among others `store_read_only` when a row is one of a replica's.
   */
  read(query: Query, endMs: number): Promise<readonly Row[]> {
    return this.named(this.readBare(query, endMs));
  }

  /**
   * How many rows were inserted, changed or deleted.
   *
   * @throws {IdempotencyError}
   */
  write(query: Query, endMs: number): Promise<number> {
    return this.named(this.writeBare(query, endMs));
  }

  /** As {@link read}, but rejects with what the driver throws. */
  async readBare(query: Query, endMs: number): Promise<readonly Row[]> {
    const { rows } = await this.#repeat(query, endMs, { isRead: true, isBounded: true });
    if (rows.some(isFromReplica)) throw new IdempotencyError('store_read_only', REPLICA);
    return rows;
  }

  /** As {@link write}, but rejects with what the driver throws. */
  async writeBare(query: Query, endMs: number): Promise<number> {
    return (await this.#repeat(query, endMs, { isRead: false, isBounded: true })).changed;
  }

  /** Several statements on one connection, with no limit on the server. */
  onOne<T>(endMs: number, use: (send: Send) => Promise<T>): Promise<T> {
    return this.named(this.#driver.runOnOne(endMs, use));
  }

  /** Rejects with errors of this package only. */
  async named<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  errorOf(error: unknown): Error {
    return toIdempotencyError(error, this.#table);
  }

  async #repeat(query: Query, endMs: number, limits: Limits): Promise<Answer> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#driver.run(query, timeLeft(endMs), limits);
      } catch (error) {
        const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, 2 ** failures);
        const isOver = performance.now() + pauseMs >= endMs;
        if (isOver || !isConflictOfOthers(error)) throw error;
        await delay(pauseMs);
      }
    }
  }
}

const MAX_PAUSE_MS = 64;

/** A replica answers as well, and what it says may be old: these columns are in every look. */
export const SERVER_COLUMNS =
  '@@global.read_only as read_only, @@global.innodb_read_only as innodb_read_only';

const REPLICA =
  'This MySQL server takes no writes: it is a replica, or read_only is on. What it says may be ' +
  'old, and is not taken for the truth. Connect to the primary.';

/** Some versions answer a number, others a word. */
function isFromReplica({ read_only = 0, innodb_read_only = 0 }: Row): boolean {
  return [read_only, innodb_read_only].some((value) => !/^(0|OFF)$/i.test(String(value)));
}

/**
 * The whole milliseconds until `endMs`.
 *
 * @throws {NotSent} when there is none left.
 */
function timeLeft(endMs: number): number {
  const leftMs = Math.ceil(endMs - performance.now());
  if (leftMs > 0) return leftMs;
  throw new NotSent('its turn did not come in time.');
}

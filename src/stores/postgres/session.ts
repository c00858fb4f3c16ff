import { setTimeout as delay } from 'node:timers/promises';
import { type PostgresDriver, type Row, type Statement, valuesOf } from './driver.ts';
import {
  isConflictOfOthers,
  NotSent,
  saysThatOtherWasFirst,
  toIdempotencyError,
} from './postgres-error.ts';

/** Statements with a deadline, repeated when the server has rolled them back for others' sake. */
export class PostgresSession {
  readonly #driver: PostgresDriver;
  readonly #table: string;

  /** `table` is what errors call it. */
  constructor(driver: PostgresDriver, table: string) {
    this.#driver = driver;
    this.#table = table;
  }

  /**
   * `endMs` is a moment of `performance.now()`.
   *
   * @throws {IdempotencyError}
   */
  async run(statement: Statement, values: unknown[], endMs: number): Promise<Row[]> {
    try {
      return await this.runBare(statement, values, endMs);
    } catch (error) {
      throw this.errorOf(error);
    }
  }

  /** The same, but rejects with what the driver throws. */
  async runBare(statement: Statement, values: unknown[], endMs: number): Promise<Row[]> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#driver.run(statement, valuesOf(statement, values), timeLeft(endMs));
      } catch (error) {
        const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, 2 ** failures);
        const isOver = performance.now() + pauseMs >= endMs;
        if (isOver || !isConflictOfOthers(error)) throw error;
        await delay(pauseMs);
      }
    }
  }

  /** For a statement that many start at once and one has to do: it is repeated when they race. */
  async runUntilUncontested(statement: Statement, endMs: number): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        await this.runBare(statement, [], endMs);
        return;
      } catch (error) {
        if (failures === MAX_RACES || !saysThatOtherWasFirst(error)) throw this.errorOf(error);
      }
    }
  }

  errorOf(error: unknown): Error {
    return toIdempotencyError(error, this.#table);
  }
}

const MAX_PAUSE_MS = 64;
const MAX_RACES = 5;

/**
 * The whole milliseconds until `endMs`.
 *
 * @throws {NotSent} when there is none left.
 */
export function timeLeft(endMs: number): number {
  const leftMs = Math.ceil(endMs - performance.now());
  if (leftMs > 0) return leftMs;
  throw new NotSent('its turn did not come in time.');
}

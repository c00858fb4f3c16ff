import { Coalescer } from '../coalescer.ts';
import type { SqliteConnection } from './handle.ts';
import type { SqliteSession } from './session.ts';
import { busy, isBusy, toIdempotencyError } from './sqlite-error.ts';

/**
 * Writes that wait in one turn of the event loop share one transaction. Each is decided on its own,
 * and none is answered before COMMIT has returned.
 *
 * A transaction is begun and ended without a pause, so that nobody else's statement on a shared
 * handle falls into it. One that finds a transaction of somebody else rejects its writes: joined to
 * that, they would be rolled back by a stranger after they had been acknowledged.
 */
export class GroupCommit {
  readonly #session: SqliteSession;
  readonly #connection: SqliteConnection;
  readonly #coalescer: Coalescer<Write>;
  /** Writes that found the database locked, in order. */
  #locked: Write[] = [];
  #retry: NodeJS.Timeout | undefined;
  #failedTries = 0;
  #unanswered = 0;
  #onIdle: (() => void) | undefined;

  constructor(session: SqliteSession) {
    this.#session = session;
    this.#connection = session.connection;
    this.#coalescer = new Coalescer((writes) => this.#send(writes), MAX_WRITES_A_COMMIT);
  }

  /**
   * Runs `apply` in a transaction that is on the disk when this resolves. While the database is
   * locked it is tried again for `timeoutMs`; after that nothing of it will be applied.
   *
   * @throws {IdempotencyError} `store_busy` when nothing was applied, and what `apply` throws.
   */
  write<T>(apply: () => T, timeoutMs: number): Promise<T> {
    this.#unanswered += 1;
    return new Promise<T>((resolve, reject) => {
      this.#coalescer.add({
        apply,
        endMs: performance.now() + timeoutMs,
        resolve: resolve as (value: unknown) => void,
        reject,
        outcome: undefined,
      });
    }).finally(() => {
      this.#unanswered -= 1;
      if (this.#unanswered === 0) this.#onIdle?.();
    });
  }

  /** Resolves when every write is answered. */
  async drain(): Promise<void> {
    if (this.#unanswered === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** While others hold the lock, what is new queues up behind what waits already. */
  #send(writes: Write[]): void {
    if (this.#retry === undefined) this.#commit(writes);
    else this.#locked.push(...writes);
  }

  #commit(writes: Write[]): void {
    const due = writes.filter((write) => !this.#isOver(write));
    if (due.length === 0) return;
    try {
      this.#session.begin();
    } catch (error) {
      if (isBusy(error)) this.#tryLater(due);
      else this.#rejectAll(due, error);
      return;
    }
    this.#failedTries = 0;
    for (const write of due) write.outcome = this.#attempt(write);
    this.#finish(due);
  }

  /** A statement that fails is undone by SQLite, and leaves the others of the transaction alone. */
  #attempt(write: Write): Outcome {
    try {
      return { ok: true, value: write.apply() };
    } catch (error) {
      return { ok: false, error };
    }
  }

  #finish(writes: Write[]): void {
    // A full disk, or the like, has rolled all of it back. The one that caused it fails alone.
    if (writes.some(hasFailed) && !this.#connection.isInTransaction) {
      if (writes.length > 1) for (const write of writes) this.#commit([write]);
      else this.#answer(writes);
      return;
    }
    try {
      this.#connection.run('COMMIT');
    } catch (error) {
      this.#connection.rollBack();
      this.#rejectAll(writes, error);
      return;
    }
    this.#answer(writes);
  }

  #answer(writes: Write[]): void {
    for (const { outcome, resolve, reject } of writes) {
      if (outcome?.ok) resolve(outcome.value);
      else reject(toIdempotencyError(outcome?.error, this.#session.database));
    }
  }

  #tryLater(writes: Write[]): void {
    this.#locked.push(...writes);
    this.#failedTries += 1;
    const nextEndMs = Math.min(...this.#locked.map((write) => write.endMs)) - performance.now();
    const backoffMs = Math.min(BACKOFF_STEP_MS * this.#failedTries, MAX_BACKOFF_MS) * jitter();
    // Not unref'd: the process must not leave while somebody waits for this answer.
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined;
        const locked = this.#locked;
        this.#locked = [];
        while (locked.length > 0) this.#send(locked.splice(0, MAX_WRITES_A_COMMIT));
      },
      Math.max(1, Math.min(backoffMs, nextEndMs)),
    );
  }

  #isOver(write: Write): boolean {
    if (performance.now() < write.endMs) return false;
    write.reject(
      busy(
        `${this.#session.database} was locked by other transactions for as long as the call had.`,
      ),
    );
    return true;
  }

  #rejectAll(writes: Write[], error: unknown): void {
    for (const { reject } of writes) reject(toIdempotencyError(error, this.#session.database));
  }
}

/** Bounds how long one transaction keeps the event loop and the lock. */
const MAX_WRITES_A_COMMIT = 256;
const BACKOFF_STEP_MS = 10;
const MAX_BACKOFF_MS = 50;

interface Write {
  readonly apply: () => unknown;
  readonly endMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  outcome: Outcome | undefined;
}

type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

function hasFailed(write: Write): boolean {
  return write.outcome?.ok === false;
}

/** From a half to one: several processes that wait for one lock do not come back together. */
function jitter(): number {
  return 0.5 + Math.random() / 2;
}

import { isUndone, type OpenTransaction, type TransactionLimits } from '../../core/transaction.ts';
import type { TransactionGate } from './gate.ts';
import { inTime } from './in-time.ts';
import { aborted, asUndone, noAnswer, over } from './transaction-error.ts';

/** What a library does with a transaction that it has begun. */
export interface TransactionLink<T> {
  readonly tx: T;
  /** Runs a statement of ours, past the gate. */
  run(text: string, values: unknown[]): Promise<unknown>;
  /** Commits, and lets the connection go. A rejection that `isUndone` is proof of a rollback. */
  commit(): Promise<void>;
  /** Rolls back, and lets the connection go. */
  rollback(): Promise<void>;
  /** Drops the connection, as far as the library lets anybody: it must never be used again. */
  destroy(): void;
}

/**
 * A transaction behind a gate. The gate closes with the first statement of ours, so what that
 * statement saw is what is committed: a transaction that took it is not an aborted one, and after
 * it nothing comes but the end.
 */
export class GuardedTransaction<T> implements OpenTransaction<T> {
  readonly tx: T;
  readonly #gate: TransactionGate;
  readonly #link: TransactionLink<T>;
  readonly #patienceMs: number;
  #own: Promise<unknown> = Promise.resolve();
  #isSound = false;
  #isEnding = false;

  constructor(gate: TransactionGate, link: TransactionLink<T>, limits: TransactionLimits) {
    this.tx = link.tx;
    this.#gate = gate;
    this.#link = link;
    this.#patienceMs = patienceMs(limits);
  }

  async query(text: string, values: unknown[]): Promise<unknown> {
    this.#gate.close();
    await this.#settled();
    if (this.#isEnding) throw over();
    return this.#run(text, values);
  }

  async commit(): Promise<void> {
    if (this.#isEnding) throw over();
    this.#isEnding = true;
    this.#gate.close();
    try {
      await this.#settled();
      if (this.#gate.failure !== undefined) throw aborted(this.#gate.failure);
      // A failed statement that the handler has kept to itself must not end as "committed".
      if (!this.#isSound) await this.#run('select 1', []);
    } catch (error) {
      await this.#undo();
      throw asUndone(error);
    }
    try {
      await this.#inTime(this.#link.commit());
    } catch (error) {
      if (!isUndone(error)) this.#link.destroy();
      throw error;
    }
  }

  async rollback(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#gate.close();
    await this.#undo();
  }

  async #run(text: string, values: unknown[]): Promise<unknown> {
    if (this.#gate.failure !== undefined) throw aborted(this.#gate.failure);
    this.#isSound = false;
    const answer = this.#link.run(text, values);
    this.#own = answer.catch(() => {});
    const rows = await this.#inTime(answer);
    this.#isSound = true;
    return rows;
  }

  /** COMMIT is never sent after this, so nothing can take effect whatever the connection does. */
  async #undo(): Promise<void> {
    if (this.#gate.loss !== undefined) return this.#link.destroy();
    try {
      await this.#settled();
      await this.#inTime(this.#link.rollback());
    } catch {
      this.#link.destroy();
    }
  }

  /** Statements that are still under way belong to the transaction: it does not end before them. */
  #settled(): Promise<unknown> {
    return this.#inTime(Promise.all([this.#gate.quiet(), this.#own]));
  }

  #inTime<V>(promise: Promise<V>): Promise<V> {
    return inTime(this.#patienceMs, promise, noAnswer);
  }
}

/** The server's own word about a limit comes first. */
export function patienceMs({ statementTimeoutMs }: TransactionLimits): number {
  return statementTimeoutMs + GRACE_MS;
}

const GRACE_MS = 1_000;

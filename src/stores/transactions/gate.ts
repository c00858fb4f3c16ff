import { endsTransaction } from './statement-text.ts';
import { endRefused, over } from './transaction-error.ts';

/**
 * What each statement of a handler passes on its way into the transaction, at the moment when it
 * goes out: however long ago it was built, and whoever kept the `tx`.
 */
export class TransactionGate {
  readonly #ends: (text: string) => boolean;
  #isClosed = false;
  #loss: Error | undefined;
  #doom: Error | undefined;
  #underWay = 0;
  #onQuiet: (() => void)[] = [];

  /** `ends` tells the statements that would end the transaction. */
  constructor(ends: (text: string) => boolean = endsTransaction) {
    this.#ends = ends;
  }

  /** Why the connection is gone, and the transaction with it. */
  get loss(): Error | undefined {
    return this.#loss;
  }

  /** Why nothing of the transaction can be committed any more. */
  get failure(): Error | undefined {
    return this.#loss ?? this.#doom;
  }

  /** Whether the transaction is about to end, or has ended. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @throws {IdempotencyError} `transaction_over`, `transaction_end_refused`. */
  check(text: string): void {
    if (this.#isClosed) throw over();
    if (this.#ends(text)) throw endRefused();
  }

  /**
   * Lets one statement in. What it answers is to be called when that has settled.
   *
   * @throws {IdempotencyError} `transaction_over`, `transaction_end_refused`.
   */
  enter(text: string): () => void {
    this.check(text);
    this.#underWay += 1;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const tell of this.#onQuiet.splice(0)) tell();
    };
  }

  /** The same for a statement that is settled when what `send` answers is. */
  async pass<T>(text: string, send: () => T | PromiseLike<T>): Promise<T> {
    const leave = this.enter(text);
    try {
      return await send();
    } finally {
      leave();
    }
  }

  /** Lets in nothing more: the transaction is about to end. */
  close(): void {
    this.#isClosed = true;
  }

  /** The connection is gone: what is sent from now on might reach another one. */
  lose(error: Error): void {
    this.#isClosed = true;
    this.#loss ??= error;
  }

  /** The transaction is gone, and its connection goes on: what is sent now would run outside. */
  doom(error: Error): void {
    this.#isClosed = true;
    this.#doom ??= error;
  }

  /** Resolves when no statement of the handler is under way. */
  quiet(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onQuiet.push(resolve);
    });
  }
}

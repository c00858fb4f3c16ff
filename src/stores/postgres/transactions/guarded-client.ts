import type { TransactionGate } from '../../transactions/gate.ts';
import { isBegin, isCommit, isRollback } from '../../transactions/statement-text.ts';
import { aborted, asUndone, endRefused } from '../../transactions/transaction-error.ts';
import { observe, type QueryArguments, refuse, textOf, withText } from './observed-query.ts';
import { afterCommit } from './server-word.ts';

/** A connection of `pg`, as far as it is used here. */
export interface PgConnection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

type Step = 'lent' | 'open' | 'committing' | 'rolling back';
type CommitReply = 'not sent' | 'awaited' | { readonly tag: unknown } | { readonly error: unknown };

/**
 * One connection of `pg`, lent to a library for one transaction, and the gate before it. Whatever
 * the library or the handler sends goes through `client`: BEGIN becomes ours, with the limits in
 * the same round trip; COMMIT and ROLLBACK pass when we have asked the library to end; everything
 * else passes the gate. What the server replies to COMMIT is learned here, and not from libraries,
 * most of which take the reply ROLLBACK, of a transaction that had failed before, for a success.
 */
export class GuardedClient<Client extends PgConnection> {
  /** What the library is given in place of the connection. */
  readonly client: Client;
  readonly #raw: Client;
  readonly #gate: TransactionGate;
  readonly #opening: string;
  #step: Step = 'lent';
  #reply: CommitReply = 'not sent';

  constructor(raw: Client, gate: TransactionGate, opening: string) {
    this.#raw = raw;
    this.#gate = gate;
    this.#opening = opening;
    this.client = this.#guarded();
    // Without a listener the loss of a connection in use would end the process.
    raw.on('error', this.#lose);
  }

  /** Runs a statement of ours. */
  async run(text: string, values: unknown[]): Promise<unknown> {
    return this.#raw.query(text, values);
  }

  /**
   * Has the library commit. Resolves when the server has acknowledged the COMMIT, whatever the
   * library makes of it.
   */
  async commit(end: () => PromiseLike<unknown>): Promise<void> {
    this.#step = 'committing';
    let failure: unknown;
    try {
      await end();
    } catch (error) {
      failure = error;
    }
    const reply = this.#reply;
    if (reply === 'not sent') throw asUndone(failure ?? aborted());
    if (reply === 'awaited') throw failure;
    if ('error' in reply) throw afterCommit(reply.error, failure);
    if (reply.tag !== 'COMMIT') throw aborted(failure);
  }

  /** Whether the server has replied to COMMIT, so that there is no transaction any more. */
  get isReplied(): boolean {
    return typeof this.#reply === 'object';
  }

  async rollback(end: () => PromiseLike<unknown>): Promise<void> {
    this.#step = 'rolling back';
    await end();
  }

  /** Nothing more is heard of the connection here: it goes back to where it was lent from. */
  leave(): void {
    this.#raw.removeListener('error', this.#lose);
  }

  readonly #lose = (error: Error): void => this.#gate.lose(error);

  #guarded(): Client {
    const client: Client = new Proxy(this.#raw, {
      get: (raw, name) => {
        if (name === 'query') return this.#query;
        if (name === 'release' || name === 'end') return refuseRelease;
        const value: unknown = Reflect.get(raw, name);
        if (typeof value !== 'function') return value;
        // Methods that answer the client itself must not hand out what is behind the gate.
        return (...args: unknown[]) => {
          const answer: unknown = Reflect.apply(value, raw, args);
          return answer === raw ? client : answer;
        };
      },
    });
    return client;
  }

  readonly #query = (...args: QueryArguments): unknown => {
    const text = textOf(args);
    if (this.#step === 'lent' && isBegin(text)) {
      this.#step = 'open';
      return this.#send(withText(args, this.#opening));
    }
    if (this.#step === 'committing' && this.#reply === 'not sent' && isCommit(text)) {
      return this.#sendCommit(args);
    }
    // Also after a COMMIT that failed, where libraries clean up so.
    if (this.#step !== 'open' && this.#reply !== 'awaited' && isRollback(text)) {
      return this.#send(args);
    }
    try {
      const leave = this.#gate.enter(text);
      return this.#send(args, leave);
    } catch (error) {
      return refuse(args, error);
    }
  };

  #sendCommit(args: QueryArguments): unknown {
    if (this.#gate.loss !== undefined) return refuse(args, aborted(this.#gate.loss));
    this.#reply = 'awaited';
    return this.#send(args, (error, result) => {
      const { command } = (result ?? {}) as { readonly command?: unknown };
      this.#reply = result === undefined ? { error } : { tag: command };
    });
  }

  #send(args: QueryArguments, settled: (error: unknown, result?: unknown) => void = () => {}) {
    const query = this.#raw.query as (...args: QueryArguments) => unknown;
    return observe(query.bind(this.#raw), args, settled);
  }
}

function refuseRelease(): never {
  throw endRefused();
}

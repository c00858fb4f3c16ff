import type { TransactionGate } from './gate.ts';
import { observe, type QueryArguments, refuse, textOf, withText } from './observed-query.ts';
import { isBegin, isCommit, isRollback } from './statement-text.ts';
import { aborted, asUndone, endRefused } from './transaction-error.ts';

/** A connection of a driver, as far as it is used here. */
export interface DriverConnection {
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** What differs from database to database, and from driver to driver. */
export interface ConnectionDialect<Client> {
  /** What is sent in place of a library's BEGIN. */
  readonly opening: string;
  /** The methods that send statements. */
  readonly sends: ReadonlySet<PropertyKey>;
  /** The methods that would end the transaction, or the connection, or lead past the gate. */
  readonly refuses: ReadonlySet<PropertyKey>;
  /** Sends a statement of ours. */
  run(raw: Client, text: string, values: unknown[]): Promise<unknown>;
  /** Looks at the answer to a statement of the handler's for what it says of the transaction. */
  watch(gate: TransactionGate, error: unknown, result: unknown): void;
  /** Whether the answer to COMMIT, which was no error, says that it has committed. */
  isCommitted(result: unknown): boolean;
  /** `inLibrary`, marked as undone when the server's `answer` to COMMIT proves that it is. */
  afterCommit(answer: unknown, inLibrary: unknown): unknown;
  /** Whether the connection can be used no more after the answer `error`. */
  losesConnection(error: unknown): boolean;
  /** Drops the connection at once. */
  reset(raw: Client): void;
}

type Step = 'lent' | 'open' | 'committing' | 'rolling back';
type CommitReply =
  | 'not sent'
  | 'awaited'
  | { readonly result: unknown }
  | { readonly error: unknown };

/**
 * One connection, lent to a library for one transaction, and the gate before it. Whatever the
 * library or the handler sends goes through `client`: BEGIN becomes ours; COMMIT and ROLLBACK pass
 * when we have asked the library to end; everything else passes the gate. What the server replies
 * to COMMIT is learned here, and not from libraries, most of which take the reply ROLLBACK, of a
 * transaction that had failed before, for a success.
 */
export class GuardedConnection<Client extends DriverConnection> {
  /** What the library is given in place of the connection. */
  readonly client: Client;
  readonly #raw: Client;
  readonly #gate: TransactionGate;
  readonly #dialect: ConnectionDialect<Client>;
  #step: Step = 'lent';
  #reply: CommitReply = 'not sent';

  constructor(raw: Client, gate: TransactionGate, dialect: ConnectionDialect<Client>) {
    this.#raw = raw;
    this.#gate = gate;
    this.#dialect = dialect;
    this.client = this.#guarded(raw);
    // Without a listener the loss of a connection in use would end the process.
    raw.on('error', this.#lose);
  }

  /** Whether the server has replied to COMMIT, and the connection is as before the transaction. */
  get isIdle(): boolean {
    const reply = this.#reply;
    if (typeof reply === 'string') return false;
    return 'result' in reply || !this.#dialect.losesConnection(reply.error);
  }

  /** Runs a statement of ours. */
  run(text: string, values: unknown[]): Promise<unknown> {
    return this.#dialect.run(this.#raw, text, values);
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
    if ('error' in reply) throw this.#dialect.afterCommit(reply.error, failure ?? reply.error);
    if (!this.#dialect.isCommitted(reply.result)) throw aborted(failure);
  }

  async rollback(end: () => PromiseLike<unknown>): Promise<void> {
    this.#step = 'rolling back';
    await end();
  }

  /** Nothing more is heard of the connection here: it goes back to where it was lent from. */
  leave(): void {
    this.#raw.removeListener('error', this.#lose);
  }

  reset(): void {
    this.#dialect.reset(this.#raw);
  }

  readonly #lose = (error: Error): void => this.#gate.lose(error);

  #guarded(raw: Client): Client {
    const client: Client = new Proxy(raw, {
      get: (_target, name) => {
        const value: unknown = Reflect.get(raw, name);
        if (this.#dialect.refuses.has(name)) return refuseEnd;
        // Wrappers keep what they wrap under this name.
        if (name === 'connection' && value) return this.#guarded(value as Client);
        if (typeof value !== 'function') return value;
        if (this.#dialect.sends.has(name)) {
          const send = (...args: QueryArguments) => Reflect.apply(value, raw, args);
          return (...args: QueryArguments) => this.#query(send, args);
        }
        // Methods that answer the client itself must not hand out what is behind the gate.
        return (...args: unknown[]) => {
          const answer: unknown = Reflect.apply(value, raw, args);
          return answer === raw ? client : answer;
        };
      },
    });
    return client;
  }

  #query(send: (...args: QueryArguments) => unknown, args: QueryArguments): unknown {
    const text = textOf(args);
    if (this.#step === 'lent' && isBegin(text)) {
      this.#step = 'open';
      return observe(send, withText(args, this.#dialect.opening), () => {});
    }
    if (this.#step === 'committing' && this.#reply === 'not sent' && isCommit(text)) {
      return this.#sendCommit(send, args);
    }
    // Also after a COMMIT that failed, where libraries clean up so.
    if (this.#step !== 'open' && this.#reply !== 'awaited' && isRollback(text)) {
      return observe(send, args, () => {});
    }
    let leave: () => void;
    try {
      leave = this.#gate.enter(text);
    } catch (error) {
      return refuse(args, error);
    }
    return observe(send, args, (error, result) => {
      this.#dialect.watch(this.#gate, error, result);
      leave();
    });
  }

  #sendCommit(send: (...args: QueryArguments) => unknown, args: QueryArguments): unknown {
    const { failure } = this.#gate;
    if (failure !== undefined) return refuse(args, aborted(failure));
    this.#reply = 'awaited';
    return observe(send, args, (error, result) => {
      this.#reply = result === undefined ? { error } : { result };
    });
  }
}

function refuseEnd(): never {
  throw endRefused();
}

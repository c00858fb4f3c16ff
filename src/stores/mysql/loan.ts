import type { MySqlConnection, MySqlPool } from './client.ts';
import type { Answer, Row } from './driver.ts';
import { endsConnection, GivenUp, NotSent, Unusable } from './mysql-error.ts';
import type { Query } from './statement.ts';

/** A connection that a pool has lent until `endMs`, a moment of `performance.now()`. */
export class Loan {
  /** Of the connection, and not of what the pool wraps it in anew each time. */
  readonly identity: object;
  readonly #connection: MySqlConnection;
  readonly #endMs: number;
  readonly #prepare: boolean;
  #isOver = false;

  private constructor(connection: MySqlConnection, endMs: number, prepare: boolean) {
    const { connection: core } = connection as { readonly connection?: object };
    this.identity = core ?? connection;
    this.#connection = connection;
    this.#endMs = endMs;
    this.#prepare = prepare;
  }

  /** @throws {NotSent} when there is none in time. */
  static take(pool: MySqlPool, endMs: number, prepare: boolean): Promise<Loan> {
    return new Promise((resolve, reject) => {
      const timeoutMs = Math.max(1, endMs - performance.now());
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new NotSent(`the pool had none for ${Math.ceil(timeoutMs)} ms.`));
      }, timeoutMs);
      pool.getConnection().then(
        (connection) => {
          clearTimeout(timer);
          if (isLate) connection.release();
          else resolve(new Loan(connection, endMs, prepare));
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(new NotSent(String((error as Partial<Error> | null)?.message ?? error)));
        },
      );
    });
  }

  /** @throws what the driver throws, and {@link GivenUp} after `endMs`. */
  async send(query: Query): Promise<Answer> {
    return answerOf(await this.#answer(query));
  }

  #answer({ text, values, isFixed }: Query): Promise<unknown> {
    const statement = { sql: text, values: [...values], ...AS_WE_READ_IT };
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#drop();
        reject(new GivenUp('MySQL did not answer in time.'));
      };
      const timeoutMs = this.#endMs - performance.now();
      if (timeoutMs <= 0) {
        giveUp();
        return;
      }
      const timer = setTimeout(giveUp, timeoutMs);
      const sent =
        this.#prepare && isFixed
          ? this.#connection.execute(statement)
          : this.#connection.query(statement);
      sent.then(
        (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }

  /** Gives the connection back, or drops it where it may not be used any more after `error`. */
  giveBack(error?: unknown): void {
    if (this.#isOver) return;
    if (error !== undefined && endsConnection(error)) {
      this.#drop();
      return;
    }
    this.#isOver = true;
    this.#connection.release();
  }

  /**
   * What the kernel has not sent yet must not arrive later, when nobody waits for it any more: RST
   * takes it back, where FIN would go on sending it.
   */
  #drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Without a listener the loss of the connection would end the process.
    this.#connection.on('error', ignore);
    const { stream } = this.identity as { readonly stream?: Socket };
    // The stream of TLS has the socket below it.
    const socket = stream?._parent ?? stream;
    try {
      socket?.resetAndDestroy?.();
    } catch {
      // A connection of another kind.
    }
    this.#connection.destroy();
  }
}

/** Whatever the pool is set to: only a function takes the place of one that the pool has. */
const AS_WE_READ_IT = {
  rowsAsArray: false,
  nestTables: false,
  typeCast: (_field: unknown, next: () => unknown) => next(),
} as const;

interface Socket {
  readonly _parent?: Socket;
  resetAndDestroy?(): void;
}

function ignore(): void {}

const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/**
 * Rows, or what became of a write.
 *
 * @throws {Unusable} when what was written is not committed: dropping the connection undoes it.
 */
function answerOf(answer: unknown): Answer {
  const [result] = answer as readonly [unknown];
  if (Array.isArray(result)) return { rows: result as Row[], changed: 0 };
  const { affectedRows, serverStatus } = result as Header;
  if ((serverStatus & IN_TRANSACTION) !== 0 || (serverStatus & AUTOCOMMIT) === 0) {
    throw new Unusable(NOT_COMMITTED);
  }
  return { rows: [], changed: affectedRows };
}

interface Header {
  readonly affectedRows: number;
  readonly serverStatus: number;
}

const NOT_COMMITTED =
  'The pool lent a connection with a transaction open, or with autocommit off: what was written ' +
  'on it would not be committed. It was dropped. Give MySqlStore a pool whose connections come ' +
  'back with no transaction, and with autocommit on.';

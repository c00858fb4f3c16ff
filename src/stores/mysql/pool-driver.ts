import type { MySqlPool } from './client.ts';
import { type ConnectionFacts, readFacts } from './connection-facts.ts';
import type { Answer, Limits, MySqlDriver, Send } from './driver.ts';
import { Loan } from './loan.ts';
import { TooLong, Unusable } from './mysql-error.ts';
import { bytesOf, type Query } from './statement.ts';

/**
 * Statements on a promise pool of `mysql2`. A connection is taken for one statement, so that it can
 * be dropped when that is given up. A new connection is asked once for what it is.
 */
export class PoolDriver implements MySqlDriver {
  readonly #pool: MySqlPool;
  readonly #prepare: boolean;
  readonly #facts = new WeakMap<object, ConnectionFacts>();

  constructor(pool: MySqlPool, prepare: boolean) {
    this.#pool = pool;
    this.#prepare = prepare;
  }

  async run(query: Query, timeoutMs: number, limits: Limits): Promise<Answer> {
    const endMs = performance.now() + timeoutMs;
    const loan = await Loan.take(this.#pool, endMs, this.#prepare);
    return this.#use(loan, async (facts) => {
      const bounded = limits.isBounded ? within(query, endMs, limits.isRead, facts) : query;
      const written = this.#prepare ? bounded : { ...bounded, isFixed: false };
      if (bytesOf(written) > facts.maxPacketBytes - RESERVED_BYTES) {
        throw new TooLong('The statement is longer than max_allowed_packet.');
      }
      if (limits.isRead && facts.readsUncommitted) await loan.send(READ_COMMITTED);
      return loan.send(bounded);
    });
  }

  async runOnOne<T>(endMs: number, use: (send: Send) => Promise<T>): Promise<T> {
    const loan = await Loan.take(this.#pool, endMs, false);
    return this.#use(loan, () => use((query) => loan.send(query)));
  }

  async #use<T>(loan: Loan, use: (facts: ConnectionFacts) => Promise<T>): Promise<T> {
    try {
      const answer = await use(this.#facts.get(loan.identity) ?? (await this.#ask(loan)));
      loan.giveBack();
      return answer;
    } catch (error) {
      loan.giveBack(error);
      throw error;
    }
  }

  async #ask(loan: Loan): Promise<ConnectionFacts> {
    const facts = await readFacts((query) => loan.send(query));
    if (!facts.isAutocommit) throw new Unusable(NO_AUTOCOMMIT);
    this.#facts.set(loan.identity, facts);
    return facts;
  }
}

/** For what the protocol puts around a statement. */
const RESERVED_BYTES = 4_096;

/** Holds for the next statement alone. */
const READ_COMMITTED: Query = {
  text: 'set transaction isolation level read committed',
  values: [],
  isFixed: false,
};

const NO_AUTOCOMMIT =
  'The connections of the pool have autocommit off: what is written on them is not committed. ' +
  'Give MySqlStore a pool that leaves it on.';

/**
 * The query, bounded on the server: MariaDB does it for any statement, waits for locks included,
 * MySQL for a SELECT. The limit stands in the text, and a text is prepared once a connection: so
 * there are few of them, each no longer than the deadline unless that is nearer than the shortest.
 */
function within(query: Query, endMs: number, isRead: boolean, facts: ConnectionFacts): Query {
  const leftMs = endMs - performance.now();
  const limitMs = LIMITS_MS.find((each) => each <= leftMs) ?? SHORTEST_MS;
  const { text } = query;
  if (facts.isMariaDb) {
    return { ...query, text: `set statement max_statement_time=${limitMs / 1_000} for ${text}` };
  }
  if (!isRead) return query;
  return {
    ...query,
    text: text.replace(/^select/, `select /*+ MAX_EXECUTION_TIME(${limitMs}) */`),
  };
}

const SHORTEST_MS = 100;
const LIMITS_MS = [60_000, 30_000, 15_000, 8_000, 4_000, 2_000, 1_000, 500, SHORTEST_MS];

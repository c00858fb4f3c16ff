import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { OpenTransaction, TransactionLimits } from '../../../../src/core/transaction.ts';
import {
  PostgresStore,
  type TransactionAdapterOptions,
} from '../../../../src/stores/postgres/index.ts';
import { attemptOf, callsOf, RESPONSE, within } from '../../calls.ts';
import type { PostgresServer } from '../../servers/postgres.ts';
import { FaultyProxy } from '../../servers/proxy.ts';
import type { ConnectedLibrary, LibraryUnderTest } from './libraries/library.ts';

const LIMITS: TransactionLimits = {
  statementTimeoutMs: 5_000,
  lockTimeoutMs: 3_000,
  idleTimeoutMs: 5_000,
};

/** A library behind a proxy, and the store, a label table and a look at both past it. */
export class TransactionRig<T> {
  readonly library: LibraryUnderTest<T>;
  readonly connected: ConnectedLibrary<T>;
  readonly proxy: FaultyProxy;
  readonly store: PostgresStore;
  readonly #pool: Pool;

  private constructor(
    library: LibraryUnderTest<T>,
    connected: ConnectedLibrary<T>,
    proxy: FaultyProxy,
    pool: Pool,
  ) {
    this.library = library;
    this.connected = connected;
    this.proxy = proxy;
    this.#pool = pool;
    this.store = new PostgresStore({ client: pool });
  }

  /**
   * Tables without rows, the key `k` claimed by A, and the first connection of the library made.
   */
  static async make<T>(
    server: PostgresServer,
    library: LibraryUnderTest<T>,
    max = 3,
  ): Promise<TransactionRig<T>> {
    const pool = server.pool();
    await pool.query(`drop table if exists
                        idempotency_records, idempotency_records_migrations, labels;
                      create table labels (name text unique deferrable initially deferred)`);
    const proxy = await FaultyProxy.start(server);
    const connected = await library.connect({ ...server.address, port: proxy.port, max });
    const rig = new TransactionRig(library, connected, proxy, pool);
    await rig.store.migrate();
    await rig.claim('A');
    await connected.query('select 1');
    return rig;
  }

  begin(
    limits: Partial<TransactionLimits> = {},
    options?: TransactionAdapterOptions,
  ): Promise<OpenTransaction<T>> {
    return this.connected.adapter(options).begin({ ...LIMITS, ...limits });
  }

  async insert(tx: T, name: string): Promise<unknown> {
    return this.connected.insert(tx, name);
  }

  async raw(tx: T, text: string): Promise<unknown> {
    return this.connected.raw(tx, text);
  }

  claim(owner: string): Promise<unknown> {
    return this.store.claim('k', 'f', attemptOf(owner, { leaseMs: 1 }), within());
  }

  /** The owner before finds itself fenced out. */
  async takeOver(owner: string): Promise<void> {
    await delay(10);
    const taking = this.store.takeOver('k', 'f', attemptOf(owner), {}, within());
    if ((await taking).kind !== 'taken') throw new Error('The record could not be taken over.');
  }

  complete(transaction: OpenTransaction<T>, owner = 'A'): Promise<void> {
    return this.store.completeIn(transaction, 'k', RESPONSE, attemptOf(owner));
  }

  /** What is committed: the names of the labels, and the state of the record. */
  async committed(): Promise<{ labels: string[]; record: string | undefined }> {
    const { rows } = await this.#pool.query('select name from labels order by name');
    const record = await this.store.inspect('k');
    return { labels: rows.map(({ name }) => name), record: record?.state };
  }

  /** Sends past the library. */
  async query(text: string): Promise<Record<string, unknown>[]> {
    return (await this.#pool.query(text)).rows;
  }

  /** A connection past the library. */
  connect(): Promise<PoolClient> {
    return this.#pool.connect();
  }

  /** How many transactions of the library the server holds open. */
  async openOnServer(): Promise<number> {
    const text = `select 1 from pg_stat_activity
                   where state ~ '^(active|idle in transaction)' and pid <> pg_backend_pid()`;
    return (await this.query(text)).length;
  }

  /** Until the server holds none open. */
  async untilNoneIsOpen(): Promise<void> {
    while ((await this.openOnServer()) > 0) await delay(50);
  }

  async close(): Promise<void> {
    this.proxy.mode = 'pass';
    this.proxy.cut();
    await Promise.race([this.connected.close(), delay(2_000, undefined, { ref: false })]);
    await this.proxy.stop();
  }

  get calls(): ReturnType<typeof callsOf> {
    return callsOf(this.store);
  }
}

export interface TransactionRule {
  readonly rule: string;
  /** How many connections the library has at most. */
  readonly max?: number;
  check<T>(rig: TransactionRig<T>): Promise<void>;
}

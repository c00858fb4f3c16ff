import { setTimeout as delay } from 'node:timers/promises';
import { FencedError } from '../../../../src/core/errors.ts';
import {
  isUndone,
  type TransactionAdapter,
  type TransactionLimits,
} from '../../../../src/core/transaction.ts';
import { MySqlStore, type TransactionAdapterOptions } from '../../../../src/stores/mysql/index.ts';
import { attemptOf, failureOf, RESPONSE, within } from '../../calls.ts';
import { MariaDbServer } from '../../servers/mariadb.ts';
import { FaultyProxy } from '../../servers/proxy.ts';

const LIMITS: TransactionLimits = {
  statementTimeoutMs: 5_000,
  lockTimeoutMs: 3_000,
  idleTimeoutMs: 5_000,
};

interface Library<T> {
  adapter(options?: TransactionAdapterOptions): TransactionAdapter<T>;
  insert(tx: T, name: string): PromiseLike<unknown>;
  raw(tx: T, text: string): PromiseLike<unknown>;
  query(text: string): PromiseLike<unknown>;
  readonly ends: readonly ((tx: T) => unknown)[];
  /** Whether the limits are taken back before COMMIT is sent, so that the first reply is theirs. */
  readonly asksBeforeCommit: boolean;
  close(): Promise<unknown>;
}

type Connect<T> = (address: MariaDbServer['address'] & { max: number }) => Library<T>;

/** What the transactions of every library keep to, on a real MariaDB behind a proxy. */
export function describeTransactions<T>(connect: Connect<T>): void {
  let server: MariaDbServer;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    server = await MariaDbServer.start();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await Promise.race([close(), delay(2_000)]);
  });
  afterAll(() => server.stop());

  async function setup(max = 3) {
    const pool = server.pool();
    await pool.query(
      'drop table if exists idempotency_records, idempotency_records_migrations, labels',
    );
    await pool.query('create table labels (name varchar(40) primary key) engine = InnoDB');
    const store = new MySqlStore({ client: pool });
    await store.migrate();
    const proxy = await FaultyProxy.start(server);
    const library = connect({ ...server.address, port: proxy.port, max });
    closing.push(async () => {
      proxy.mode = 'pass';
      await Promise.race([library.close().catch(() => {}), delay(1_000)]);
      await proxy.stop();
    });
    await store.claim('k', 'f', attemptOf('A', { leaseMs: 1 }), within());
    await library.query('select 1');
    return {
      ...{ pool, store, proxy, library },
      begin: (limits: Partial<TransactionLimits> = {}) =>
        library.adapter().begin({ ...LIMITS, ...limits }),
      insert: async (tx: T, name: string) => library.insert(tx, name),
      raw: async (tx: T, text: string) => library.raw(tx, text),
      complete: (transaction: Parameters<MySqlStore['completeIn']>[0]) =>
        store.completeIn(transaction, 'k', RESPONSE, attemptOf('A')),
      committed: async () => {
        const [rows] = await pool.query('select name from labels order by name');
        const labels = (rows as { name: string }[]).map(({ name }) => name);
        return { labels, record: (await store.inspect('k'))?.state };
      },
    };
  }

  defineCommits(setup);
  defineDoubts(setup);
  defineEnds(setup);
  defineLimits(setup);
  defineFaults(setup);
}

type Setup<T> = (max?: number) => Promise<{
  readonly pool: ReturnType<MariaDbServer['pool']>;
  readonly store: MySqlStore;
  readonly proxy: FaultyProxy;
  readonly library: Library<T>;
  readonly begin: (
    limits?: Partial<TransactionLimits>,
  ) => ReturnType<TransactionAdapter<T>['begin']>;
  readonly insert: (tx: T, name: string) => Promise<unknown>;
  readonly raw: (tx: T, text: string) => Promise<unknown>;
  readonly complete: (transaction: Parameters<MySqlStore['completeIn']>[0]) => Promise<void>;
  readonly committed: () => Promise<{ labels: string[]; record: string | undefined }>;
}>;

function defineCommits<T>(setup: Setup<T>): void {
  test('the row and the saved response are committed together', async () => {
    const { begin, insert, complete, committed } = await setup(1);
    const transaction = await begin();
    await insert(transaction.tx, 'made');
    await complete(transaction);
    expect(await committed()).toEqual({ labels: [], record: 'pending' });
    await transaction.commit();
    expect(await committed()).toEqual({ labels: ['made'], record: 'completed' });
  });

  test('a rollback undoes both, and the connection is used again', async () => {
    const { begin, insert, complete, committed } = await setup(1);
    const transaction = await begin();
    await insert(transaction.tx, 'made');
    await complete(transaction);
    await transaction.rollback();
    expect(await committed()).toEqual({ labels: [], record: 'pending' });
    const next = await begin();
    await insert(next.tx, 'next');
    await next.commit();
    expect((await committed()).labels).toEqual(['next']);
  });

  test('a superseded owner is fenced out, and nothing that it wrote stays', async () => {
    const { begin, insert, store, complete, committed } = await setup();
    const transaction = await begin();
    await insert(transaction.tx, 'late');
    await delay(10);
    const taking = store.takeOver('k', 'f', attemptOf('B'), {}, within());
    expect((await taking).kind).toBe('taken');
    expect(await failureOf(complete(transaction))).toBeInstanceOf(FencedError);
    await transaction.rollback();
    expect(await committed()).toEqual({ labels: [], record: 'pending' });
  });
}

function defineDoubts<T>(setup: Setup<T>): void {
  test('a commit whose reply was lost rejects, and is as it says', async () => {
    const { begin, insert, complete, committed, proxy, library } = await setup();
    const transaction = await begin();
    await insert(transaction.tx, 'made');
    await complete(transaction);
    proxy.mode = 'eat-reply';
    const undone = isUndone(await failureOf(transaction.commit()));
    expect(undone).toBe(library.asksBeforeCommit);
    const both = { labels: ['made'], record: 'completed' };
    expect(await committed()).toEqual(undone ? { labels: [], record: 'pending' } : both);
  });

  test('a deadlock that the handler keeps to itself lets nothing run outside', async () => {
    const { begin, insert, raw, pool, committed } = await setup();
    await pool.query("insert into labels values ('a'), ('b')");
    const transaction = await begin();
    await raw(transaction.tx, "update labels set name = 'a' where name = 'a'");
    await insert(transaction.tx, 'made');
    const other = await pool.getConnection();
    await other.query('start transaction');
    await other.query("insert into labels values ('x1'), ('x2'), ('x3'), ('x4'), ('x5')");
    await other.query("update labels set name = 'b2' where name = 'b'");
    const waiting = other.query("update labels set name = 'a2' where name = 'a'");
    const dead = failureOf(raw(transaction.tx, "select * from labels where name = 'b' for update"));
    expect((await dead).message).toMatch(/deadlock/i);
    expect((await failureOf(insert(transaction.tx, 'outside'))).code).toBe('transaction_over');
    expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
    await waiting;
    await other.query('rollback');
    other.release();
    expect((await committed()).labels).toEqual(['a', 'b']);
  });
}

function defineEnds<T>(setup: Setup<T>): void {
  test('what is asked of it after its end is refused, and runs nowhere', async () => {
    const { begin, insert, raw, complete, committed } = await setup();
    const done = await begin();
    await complete(done);
    expect((await failureOf(insert(done.tx, 'early'))).code).toBe('transaction_over');
    await done.commit();
    const undone = await begin();
    await undone.rollback();
    for (const { tx } of [done, undone]) {
      expect((await failureOf(insert(tx, 'late'))).code).toBe('transaction_over');
      expect((await failureOf(raw(tx, 'select 1'))).code).toBe('transaction_over');
    }
    expect((await committed()).labels).toEqual([]);
  });

  test('the handler cannot end it, nor change a schema in it, and goes on after trying', async () => {
    const { begin, insert, complete, committed, library } = await setup();
    const transaction = await begin();
    await insert(transaction.tx, 'made');
    for (const end of library.ends) {
      const { code } = await failureOf((async () => end(transaction.tx))());
      expect(code).toBe('transaction_end_refused');
    }
    expect((await committed()).labels).toEqual([]);
    await complete(transaction);
    await transaction.commit();
    expect(await committed()).toEqual({ labels: ['made'], record: 'completed' });
  });
}

function defineLimits<T>(setup: Setup<T>): void {
  test('statements that are still queued when one has failed are waited for', async () => {
    const { begin, insert, raw, committed } = await setup(1);
    const transaction = await begin();
    const all = [
      insert(transaction.tx, 'one'),
      raw(transaction.tx, 'select * from not_there'),
      insert(transaction.tx, 'two'),
      raw(transaction.tx, 'select sleep(0.2)'),
    ];
    await failureOf(Promise.all(all));
    await transaction.rollback();
    await Promise.allSettled(all);
    const next = await begin();
    await insert(next.tx, 'next');
    await next.commit();
    expect((await committed()).labels).toEqual(['next']);
  });

  test('the limits of the server end what is stuck, and end with the transaction', async () => {
    const { begin, insert, raw, committed, library } = await setup(1);
    const slow = await begin({ statementTimeoutMs: 300 });
    await insert(slow.tx, 'made');
    await failureOf(raw(slow.tx, 'select sleep(20) from labels'));
    expect(isUndone(await failureOf(slow.commit()))).toBe(true);
    const idle = await begin({ idleTimeoutMs: 1_000 });
    await insert(idle.tx, 'made');
    await delay(2_500);
    expect(isUndone(await failureOf(idle.commit()))).toBe(true);
    await (await begin({ statementTimeoutMs: 300 })).commit();
    await library.query('select sleep(0.6)');
    const after = await library.query('select @@session.wait_timeout as s');
    expect(JSON.stringify(after)).toMatch(/28800/);
    expect((await committed()).labels).toEqual([]);
  });

  test('an exhausted pool is a rejection in time, and what came late is given back', async () => {
    const { begin, insert, committed } = await setup(1);
    const first = await begin();
    const { code } = await failureOf(begin({ lockTimeoutMs: 300 }));
    expect(code).toBe('store_no_connection');
    await first.rollback();
    const next = await begin();
    await insert(next.tx, 'next');
    await next.commit();
    expect((await committed()).labels).toEqual(['next']);
  });
}

function defineFaults<T>(setup: Setup<T>): void {
  test('what is sent after the connection was lost runs on no other one', async () => {
    const { begin, insert, committed, proxy } = await setup();
    const transaction = await begin();
    await insert(transaction.tx, 'made');
    proxy.cut();
    for (let n = 0; n < 10; n += 1) {
      await failureOf(insert(transaction.tx, `late ${n}`));
      await delay(10);
    }
    expect(isUndone(await failureOf(transaction.commit()))).toBe(true);
    await delay(300);
    expect((await committed()).labels).toEqual([]);
    const next = await begin();
    await insert(next.tx, 'next');
    await next.commit();
    expect((await committed()).labels).toEqual(['next']);
  });

  test('a rollback over a half-open connection resolves in time', async () => {
    const { begin, insert, committed, proxy } = await setup();
    const transaction = await begin({ statementTimeoutMs: 500, idleTimeoutMs: 1_000 });
    await insert(transaction.tx, 'made');
    proxy.mode = 'hole';
    const startMs = performance.now();
    await transaction.rollback();
    expect(performance.now() - startMs).toBeLessThan(10_000);
    expect((await committed()).labels).toEqual([]);
  });

  test('many transactions leave no listener and no connection behind', async () => {
    const { begin, insert, committed, proxy } = await setup();
    const warnings: string[] = [];
    const warn = (warning: Error) => warnings.push(String(warning));
    process.on('warning', warn);
    const run = async (n: number) => {
      const transaction = await begin({ lockTimeoutMs: 20_000 });
      await insert(transaction.tx, `row ${n}`);
      await (n % 2 === 0 ? transaction.commit() : transaction.rollback());
    };
    for (let n = 0; n < 12; n += 1) await run(n);
    await Promise.all(Array.from({ length: 24 }, (_, n) => run(100 + n)));
    await delay(10);
    process.removeListener('warning', warn);
    expect(warnings).toEqual([]);
    expect((await committed()).labels).toHaveLength(18);
    expect(proxy.connections).toBeLessThanOrEqual(3);
  });
}

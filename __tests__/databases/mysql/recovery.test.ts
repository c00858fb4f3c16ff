import type { RowDataPacket } from 'mysql2/promise';
import { FencedError } from '../../../src/core/errors.ts';
import { MySqlStore, type MySqlTransaction } from '../../../src/stores/mysql/index.ts';
import { SettableClock } from '../../../src/testing/index.ts';
import { attemptOf, callsOf, failureOf, RESPONSE, within } from '../postgres/calls.ts';
import { MariaDbServer } from '../servers/mariadb.ts';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.start();
});
afterAll(() => server.stop());

/** An empty table, a clock to move, and a business table beside it. */
async function setup() {
  const pool = server.pool();
  await pool.query(
    'drop table if exists idempotency_records, idempotency_records_migrations, labels',
  );
  await pool.query('create table labels (name varchar(10)) engine = InnoDB');
  const clock = new SettableClock();
  const store = new MySqlStore({ client: pool, now: clock.now });
  await store.migrate();
  const leased = { leaseMs: 1_000 };
  const claim = (owner: string, more: object = leased) =>
    store.claim('k', 'f', attemptOf(owner, more), within());
  const takeOver = (owner: string, options: { withinMs?: number } = {}, fingerprint = 'f') =>
    store.takeOver('k', fingerprint, attemptOf(owner, leased), options, within());
  const labels = async () => (await pool.query<RowDataPacket[]>('select name from labels'))[0];
  return { pool, clock, store, ...callsOf(store), claim, takeOver, labels };
}

test('a lease that is over can be taken over once, and the old owner is fenced out', async () => {
  const { clock, claim, takeOver, complete, store } = await setup();
  await claim('A');
  expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: false });
  expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
  clock.advance(1_000);
  expect(await claim('B')).toEqual({ kind: 'pending', leaseOver: true });
  const takers = Array.from({ length: 16 }, (_, n) => takeOver(`B${n}`));
  const answers = await Promise.all(takers);
  expect(answers.filter(({ kind }) => kind === 'taken')).toEqual([{ kind: 'taken', attempt: 2 }]);
  const winner = `B${answers.findIndex(({ kind }) => kind === 'taken')}`;
  expect(await takeOver(winner)).toEqual({ kind: 'taken', attempt: 2 });
  clock.advance(1_000);
  expect(await takeOver(winner)).toEqual({ kind: 'taken', attempt: 2 });
  expect(await failureOf(complete('A'))).toBeInstanceOf(FencedError);
  await complete(winner);
  expect(await store.inspect('k')).toMatchObject({ state: 'completed', owner: winner, attempt: 2 });
  expect(await takeOver('C')).toEqual({ kind: 'not-taken' });
});

test('nothing is taken over without a lease, with another fingerprint, or too late', async () => {
  const { clock, claim, takeOver, release } = await setup();
  await claim('A', {});
  clock.advance(1e9);
  expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
  await release('A');
  expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
  await claim('A');
  clock.advance(10_000);
  expect(await takeOver('B', {}, 'another')).toEqual({ kind: 'not-taken' });
  expect(await takeOver('B', { withinMs: 9_999 })).toEqual({ kind: 'too-late' });
  expect(await takeOver('B', { withinMs: 10_000 })).toEqual({ kind: 'taken', attempt: 2 });
  clock.advance(1_000);
  expect(await takeOver('C', { withinMs: 10_000 })).toEqual({ kind: 'too-late' });
});

test('the number of a record that was taken over stays when it is released', async () => {
  const { clock, claim, takeOver, release, store } = await setup();
  await claim('A');
  clock.advance(1_000);
  await takeOver('B');
  await release('B');
  expect(await store.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
  expect(await claim('C')).toEqual({ kind: 'pending', leaseOver: true });
  expect(await takeOver('C')).toEqual({ kind: 'taken', attempt: 3 });
});

test('an owner that renews keeps its lease, and learns when it is too late', async () => {
  const { clock, claim, takeOver, store } = await setup();
  const renew = (owner: string) => store.renew('k', 1_000, attemptOf(owner), within());
  await claim('A');
  clock.advance(900);
  await renew('A');
  await renew('A');
  clock.advance(900);
  expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
  clock.advance(100);
  expect(await takeOver('B')).toEqual({ kind: 'taken', attempt: 2 });
  expect(await failureOf(renew('A'))).toBeInstanceOf(FencedError);
});

test('an owner that has locked its record in an open transaction is not taken over', async () => {
  const { pool, clock, claim, takeOver } = await setup();
  await claim('A');
  clock.advance(1_000);
  const business = await pool.getConnection();
  await business.query('begin');
  await business.query('select 1 from idempotency_records for update');
  const startMs = performance.now();
  expect(await takeOver('B')).toEqual({ kind: 'not-taken' });
  expect(performance.now() - startMs).toBeLessThan(2_000);
  await business.query('rollback');
  business.release();
  expect(await takeOver('B')).toEqual({ kind: 'taken', attempt: 2 });
});

describe.each(['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])(
  'in a transaction that is %s',
  (isolation) => {
    /** Runs `write` in a transaction that has made a label. */
    async function inTransaction(write: (tx: MySqlTransaction) => Promise<unknown>): Promise<void> {
      const connection = await server.pool().getConnection();
      try {
        await connection.query(`set transaction isolation level ${isolation}`);
        await connection.beginTransaction();
        await connection.query("insert into labels values ('made')");
        await write(connection);
        await connection.commit();
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
    }

    test('what was written and the saved response are committed together', async () => {
      const { claim, store, labels } = await setup();
      await claim('A');
      await inTransaction(async (tx) => {
        await store.completeIn(tx, 'k', RESPONSE, attemptOf('A'));
        expect((await claim('B')).kind).toBe('pending');
      });
      expect(await labels()).toEqual([{ name: 'made' }]);
      expect(await claim('B')).toEqual({ kind: 'replay', response: RESPONSE });
    });

    test('a superseded owner is fenced, and nothing that it wrote stays', async () => {
      const { clock, claim, takeOver, store, labels } = await setup();
      await claim('A');
      clock.advance(1_000);
      await takeOver('B');
      const superseded = inTransaction((tx) => store.completeIn(tx, 'k', RESPONSE, attemptOf('A')));
      expect(await failureOf(superseded)).toBeInstanceOf(FencedError);
      expect(await labels()).toEqual([]);
      expect((await store.inspect('k'))?.state).toBe('pending');
    });

    test('what was written once is not written again when it is sent a second time', async () => {
      const { claim, store, labels } = await setup();
      await claim('A');
      const once = () => inTransaction((tx) => store.completeIn(tx, 'k', RESPONSE, attemptOf('A')));
      await once();
      expect(await failureOf(once())).toBeInstanceOf(FencedError);
      expect(await labels()).toHaveLength(1);
    });
  },
);

describe('settling by an operator', () => {
  const note = { reason: 'seen at the carrier', by: 'operator 7' };

  test('a record whose lease holds is settled only by force', async () => {
    const { clock, claim, complete, store } = await setup();
    const done = { kind: 'done', response: RESPONSE } as const;
    await claim('A');
    expect(await store.settle('k', done, note)).toBe('lease-holds');
    clock.advance(1_000);
    expect(await store.settle('k', done, note)).toBe('settled');
    expect(await store.settle('k', done, note, { force: true })).toBe('not-pending');
    expect(await claim('B')).toEqual({ kind: 'replay', response: RESPONSE });
    expect(await failureOf(complete('A'))).toBeInstanceOf(FencedError);
    expect(await store.settle('another key', done, note)).toBe('absent');
  });

  test('who settled a record and why is in the record', async () => {
    const { pool, claim, store } = await setup();
    await claim('A');
    const unknown = { kind: 'unknown', response: RESPONSE } as const;
    expect(await store.settle('k', unknown, note, { force: true })).toBe('settled');
    const [rows] = await pool.query<RowDataPacket[]>('select settlement from idempotency_records');
    expect(JSON.parse(String(rows[0]?.['settlement']))).toEqual({
      kind: 'unknown',
      force: true,
      ...note,
    });
  });

  test('never-started frees a first attempt, and only ends the lease of a later one', async () => {
    const { clock, claim, takeOver, store } = await setup();
    await claim('A', {});
    expect(await store.settle('k', { kind: 'never-started' }, note)).toBe('settled');
    expect(await claim('B')).toEqual({ kind: 'new', attempt: 1 });
    clock.advance(1_000);
    await takeOver('C');
    expect(await store.settle('k', { kind: 'never-started' }, note)).toBe('lease-holds');
    const forced = store.settle('k', { kind: 'never-started' }, note, { force: true });
    expect(await forced).toBe('settled');
    expect(await store.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    expect(await takeOver('D')).toEqual({ kind: 'taken', attempt: 3 });
  });
  test('a word that is said twice within a millisecond is taken both times', async () => {
    const { clock, claim, takeOver } = await setup();
    await claim('A');
    clock.advance(1_000);
    await takeOver('B');
    clock.advance(1_000);
    const client = server.pool({ flags: ['-FOUND_ROWS'] });
    const counting = new MySqlStore({ client, now: clock.now });
    for (let n = 0; n < 2; n += 1) {
      expect(await counting.settle('k', { kind: 'never-started' }, note)).toBe('settled');
    }
    for (let n = 0; n < 2; n += 1) await counting.renew('k', 1_000, attemptOf('B'), within());
    expect(await counting.settle('k', { kind: 'never-started' }, note)).toBe('lease-holds');
  });
});

import { type SqliteHandle, SqliteStore } from '../../../src/stores/sqlite/index.ts';
import { anyResponse, attemptOf, Scene } from '../../../src/testing/contract-scene.ts';
import { TemporaryDirectory } from './database.ts';
import type { SqliteTests } from './describe-sqlite.ts';
import type { SqliteDriver } from './driver.ts';

/** Transactions: the store's own, and those of others. */
export const TRANSACTION_TESTS: SqliteTests = {
  'a call that finds a transaction of the user rejects, and never joins it': async (driver) => {
    const { handle, scene, count, end } = await setup(driver);
    await scene.finish('A', anyResponse(), { key: 'completed' });
    await scene.expectNew('A', { key: 'pending' });
    handle.exec('CREATE TABLE business (n)');
    handle.exec('BEGIN');
    handle.exec('INSERT INTO business VALUES (1)');
    const calls = [
      scene.claim('A'),
      scene.claim('B', { key: 'completed' }),
      scene.complete('A', anyResponse(), { key: 'pending' }),
      scene.release('A', { key: 'pending' }),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'store_busy' });
    await expect(new SqliteStore(handle).migrate()).rejects.toMatchObject({ code: 'store_busy' });
    handle.exec('ROLLBACK');
    expect(count()).toBe(2);
    expect(rowsOf(handle, 'SELECT * FROM business')).toEqual([]);
    await scene.expectNew('A');
    await scene.expectKind('pending', 'B', { key: 'pending' });
    end();
  },

  'a handle that does not tell whether a transaction is open is found out': async (driver) => {
    const { handle, count, end } = await setup(driver);
    const scene = new Scene(new SqliteStore(silent(handle)));
    await scene.finish('A', anyResponse(), { key: 'completed' });
    handle.exec('BEGIN');
    const calls = [scene.claim('A'), scene.claim('B', { key: 'completed' }), scene.release('A')];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'store_busy' });
    handle.exec('COMMIT');
    expect(count()).toBe(1);
    await scene.expectNew('A');
    end();
  },

  'a transaction that begins between a call and its commit rejects the call': async (driver) => {
    const { handle, scene, count, end } = await setup(driver);
    const claim = scene.claim('A');
    // The claim has looked already, and waits for the end of this turn.
    handle.exec('BEGIN');
    await expect(claim).rejects.toMatchObject({ code: 'store_busy' });
    handle.exec('COMMIT');
    expect(count()).toBe(0);
    end();
  },

  'nothing is answered before it is committed': async (driver) => {
    const { scene, count, end } = await setup(driver);
    const claims = Array.from({ length: 20 }, async (_, n) => {
      const claim = await scene.claim('A', { key: `key ${n}` });
      return [claim.kind, count()];
    });
    expect(count()).toBe(0);
    for (const claim of claims) expect(await claim).toEqual(['new', 20]);
    end();
  },

  'what waits in one turn goes out in one transaction': async (driver) => {
    const { counter, scene, end } = await setup(driver);
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => scene.expectNew('A', { key: `key ${n}` })),
    );
    expect(counter.commits).toBe(1);
    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        scene.complete('A', anyResponse(), { key: `key ${n}` }),
      ),
    );
    expect(counter.commits).toBe(2);
    end();
  },

  'answers that need no write begin no transaction': async (driver) => {
    const { counter, scene, end } = await setup(driver);
    await scene.finish('A', anyResponse(), { key: 'completed' });
    await scene.expectNew('A');
    const before = counter.commits;
    await scene.expectReplay(anyResponse(), 'B', { key: 'completed' });
    await scene.expectKind('pending', 'B');
    await scene.expectConflict('B');
    await scene.expectNew('A');
    expect(counter.commits).toBe(before);
    end();
  },

  'one record that cannot be written fails alone': async (driver) => {
    const { handle, scene, end } = await setup(driver);
    for (const key of ['one', 'bad', 'two']) await scene.expectNew('A', { key });
    handle.exec(
      `CREATE TRIGGER refuse BEFORE UPDATE ON idempotency_records WHEN new.idempotency_key = 'bad'
         BEGIN SELECT raise(ABORT, 'no'); END`,
    );
    const outcomes = await completeAll(scene, ['one', 'bad', 'two']);
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await scene.expectKind('replay', 'B', { key: 'one' });
    await scene.expectKind('pending', 'B', { key: 'bad' });
    await scene.expectKind('replay', 'B', { key: 'two' });
    end();
  },

  'one record that rolls all back, as a full disk does, fails alone': async (driver) => {
    const { handle, scene, end } = await setup(driver);
    for (const key of ['one', 'bad', 'two']) await scene.expectNew('A', { key });
    handle.exec(
      `CREATE TRIGGER refuse BEFORE UPDATE ON idempotency_records WHEN new.idempotency_key = 'bad'
         BEGIN SELECT raise(ROLLBACK, 'no'); END`,
    );
    const outcomes = await completeAll(scene, ['one', 'bad', 'two']);
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await scene.expectKind('replay', 'B', { key: 'one' });
    await scene.expectKind('pending', 'B', { key: 'bad' });
    await scene.expectKind('replay', 'B', { key: 'two' });
    end();
  },

  'a commit that fails rejects its calls, and leaves nothing behind': async (driver) => {
    const { handle, scene, count, end } = await setup(driver);
    // What a deferred constraint forbids is found out by COMMIT, and by nothing before it.
    handle.exec(`PRAGMA foreign_keys = ON;
      CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER orphan AFTER INSERT ON idempotency_records
      BEGIN INSERT INTO child VALUES (1); END`);
    const claims = [scene.claim('A'), scene.claim('A', { key: 'other' })];
    for (const claim of claims) {
      await expect(claim).rejects.toMatchObject({ code: 'database_unusable' });
    }
    expect(count()).toBe(0);
    handle.exec('DROP TRIGGER orphan');
    await scene.expectNew('B');
    end();
  },

  'a commit and a rollback that both fail reject every call until the transaction is ended': async (
    driver,
  ) => {
    const { handle, count, end } = await setup(driver);
    const broken = new Set(['COMMIT', 'ROLLBACK']);
    const store = new SqliteStore(failing(handle, broken));
    await store.migrate();
    const scene = new Scene(store);
    const claims = [scene.claim('A'), scene.claim('A', { key: 'other' })];
    for (const claim of claims) {
      await expect(claim).rejects.toMatchObject({ code: 'database_unusable' });
    }
    await expect(scene.claim('B')).rejects.toMatchObject({ code: 'store_busy' });
    broken.clear();
    handle.exec('ROLLBACK');
    expect(count()).toBe(0);
    await scene.expectNew('B');
    await store.close();
    end();
  },

  'a commit of writes and record that fails stays unclear, also where it cannot be rolled back':
    async (driver) => {
      const { handle, scene, end } = await setup(driver);
      await scene.expectNew('A');
      const context = attemptOf('A');
      const store = new SqliteStore(failing(handle, new Set(['COMMIT', 'ROLLBACK'])));
      const commit = () => store.commitSync(context.recordKey, context, () => anyResponse());
      expect(commit).toThrow(expect.objectContaining({ code: 'commit_unclear' }));
      handle.exec('ROLLBACK');
      end();
    },

  'close waits for what was called before, and refuses what comes after': async (driver) => {
    const { handle, store, scene, end } = await setup(driver);
    const claims = Array.from({ length: 5 }, (_, n) => scene.claim('A', { key: `key ${n}` }));
    const closed = store.close();
    const late = scene.claim('A', { key: 'late' });
    await expect(late).rejects.toMatchObject({ code: 'store_closed' });
    await closed;
    for (const claim of claims) expect((await claim).kind).toBe('new');
    await store.close();
    // The handle was lent: it stays its owner's.
    expect(rowsOf(handle, 'SELECT 1 AS one')).toMatchObject([{ one: 1 }]);
    end();
  },

  'a handle that is closed under the store is named': async (driver) => {
    const { handle, scene, other } = await setup(driver);
    handle.close();
    await expect(scene.claim('A')).rejects.toMatchObject({ code: 'store_closed' });
    other.close();
  },
};

async function setup(driver: SqliteDriver) {
  const directory = new TemporaryDirectory();
  const path = directory.file('records.db');
  const handle = driver.open(path);
  const counter = counted(handle);
  const store = new SqliteStore(counter.handle);
  await store.migrate();
  const other = driver.open(path);
  const count = () =>
    Number(
      (other.prepare('SELECT count(*) AS n FROM idempotency_records').get() as { n: number }).n,
    );
  const end = () => {
    handle.close();
    other.close();
    directory.remove();
  };
  return { handle, other, store, counter, scene: new Scene(store), count, end };
}

async function completeAll(scene: Scene, keys: readonly string[]): Promise<string[]> {
  const calls = keys.map((key) => scene.complete('A', anyResponse(), { key }));
  return (await Promise.allSettled(calls)).map((outcome) => outcome.status);
}

function rowsOf(handle: SqliteHandle, sql: string): unknown[] {
  return handle.prepare(sql).all();
}

/** The handle as the store sees it; counts what the store commits. */
function counted(handle: SqliteHandle): { readonly handle: SqliteHandle; commits: number } {
  const count = {
    commits: 0,
    handle: new Proxy(handle, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (name === 'prepare') return (sql: string) => prepare(sql);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
  };
  const prepare = (sql: string) => {
    const statement = handle.prepare(sql);
    if (sql !== 'COMMIT') return statement;
    return {
      run: () => {
        count.commits += 1;
        return statement.run();
      },
    };
  };
  return count;
}

/** The handle, some statements of which fail as on a disk that is gone. */
function failing(handle: SqliteHandle, broken: ReadonlySet<string>): SqliteHandle {
  const prepare = (sql: string) => {
    const statement = handle.prepare(sql);
    if (!broken.has(sql)) return statement;
    const run = () => {
      if (broken.has(sql)) throw new Error('disk I/O error');
      return statement.run();
    };
    return { run };
  };
  return new Proxy(handle, {
    get(target, name) {
      if (name === 'prepare') return prepare;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The handle as Node 22 had it at first. */
function silent(handle: SqliteHandle): SqliteHandle {
  const { exec, prepare, close } = handle;
  return {
    exec: exec.bind(handle),
    prepare: prepare.bind(handle),
    close: close.bind(handle),
  };
}

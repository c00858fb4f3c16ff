import { writeFileSync } from 'node:fs';
import {
  type SqliteHandle,
  SqliteStore,
  sqliteMigrations,
} from '../../../src/stores/sqlite/index.ts';
import { anyResponse, Scene } from '../../../src/testing/contract-scene.ts';
import { TemporaryDirectory } from './database.ts';
import type { SqliteTests } from './describe-sqlite.ts';
import type { SqliteDriver } from './driver.ts';

/** Migrations, durability, and databases that are of no use. */
export const OPENING_TESTS: SqliteTests = {
  'every open sets WAL mode and synchronous=FULL, whatever the driver begins with': async (
    driver,
  ) => {
    const { directory, openHandle, pragma } = setup(driver);
    for (const begun of ['first', 'again', 'again with NORMAL', 'again with EXTRA']) {
      const handle = openHandle();
      const [, level] = begun.split(' with ');
      if (level !== undefined) handle.exec(`PRAGMA synchronous = ${level}`);
      const store = new SqliteStore(handle);
      if (begun === 'first') await store.migrate();
      await new Scene(store).finish('A', anyResponse(), { key: begun });
      expect(pragma(handle, 'journal_mode')).toBe('wal');
      expect(Number(pragma(handle, 'synchronous'))).toBe(level === 'EXTRA' ? 3 : 2);
      handle.close();
    }
    directory.remove();
  },

  'check reads what is set now, and says what it means': async (driver) => {
    const { directory, openHandle } = setup(driver);
    const handle = openHandle();
    const store = new SqliteStore(handle);
    await store.migrate();
    expect(await store.check()).toMatchObject({
      durable: true,
      journalMode: 'wal',
      synchronous: 2,
    });
    handle.exec('PRAGMA synchronous = NORMAL');
    expect(await store.check()).toMatchObject({
      durable: false,
      synchronous: 1,
      sentences: [expect.stringContaining('power cut')],
    });
    handle.close();
    directory.remove();
  },

  'a handle keeps its own busy_timeout': async (driver) => {
    const { directory, openHandle, pragma } = setup(driver);
    const handle = openHandle();
    handle.exec('PRAGMA busy_timeout = 4321');
    const store = new SqliteStore(handle);
    await store.migrate();
    await new Scene(store).finish('A', anyResponse());
    expect(Number(pragma(handle, 'busy_timeout'))).toBe(4321);
    handle.close();
    directory.remove();
  },

  'a handle that reads integers as bigints serves as well': async (driver) => {
    const { directory, path } = setup(driver);
    const handle = driver.open(path, { bigInts: true });
    const store = new SqliteStore(handle);
    await store.migrate();
    const scene = new Scene(store);
    await scene.finish('A', anyResponse());
    await scene.expectReplay(anyResponse(), 'B');
    await scene.expectNew('A', { key: 'pending' });
    await scene.expectKind('pending', 'B', { key: 'pending' });
    expect(await store.inspect('k')).toMatchObject({ attempt: 1, state: 'completed' });
    expect((await store.list()).records).toHaveLength(2);
    expect(await store.check()).toMatchObject({ durable: true });
    handle.close();
    directory.remove();
  },

  'a store that is used before its migration says so, and works once it is done': async (
    driver,
  ) => {
    const { directory, openHandle } = setup(driver);
    const handle = openHandle();
    const scene = new Scene(new SqliteStore(handle));
    for (const call of [scene.claim('A'), scene.complete('A', anyResponse()), scene.release('A')]) {
      await expect(call).rejects.toMatchObject({
        code: 'store_not_migrated',
        message: expect.stringContaining('Call `await store.migrate()`'),
      });
    }
    await new SqliteStore(handle).migrate();
    await scene.expectNew('A');
    handle.close();
    directory.remove();
  },

  'migrating again keeps the records': async (driver) => {
    const { directory, openHandle } = setup(driver);
    const handle = openHandle();
    const store = new SqliteStore(handle);
    await store.migrate();
    await new Scene(store).finish('A', anyResponse());
    await store.migrate();
    await new SqliteStore(handle).migrate();
    await new Scene(store).expectReplay(anyResponse(), 'B');
    handle.close();
    directory.remove();
  },

  'tables that a newer package has changed are refused; harmless changes are not': async (
    driver,
  ) => {
    const { directory, openHandle } = setup(driver);
    const handle = openHandle();
    await new SqliteStore(handle).migrate();
    const newer = sqliteMigrations().length + 1;
    const insert = 'INSERT INTO idempotency_records_migrations VALUES';
    handle.exec(`${insert} (${newer}, 0, 0)`);
    await new SqliteStore(handle).migrate();
    await new Scene(new SqliteStore(handle)).expectNew('A');
    handle.exec(`${insert} (${newer + 1}, 1, 0)`);
    const refusal = { code: 'store_not_migrated', message: expect.stringContaining('newer') };
    await expect(new SqliteStore(handle).migrate()).rejects.toMatchObject(refusal);
    await expect(new Scene(new SqliteStore(handle)).claim('A')).rejects.toMatchObject(refusal);
    handle.close();
    directory.remove();
  },

  'the exported SQL makes the tables that the store uses': async (driver) => {
    const { directory, openHandle } = setup(driver);
    const handle = openHandle();
    handle.exec(
      'CREATE TABLE idempotency_records_migrations ' +
        '(version INTEGER NOT NULL PRIMARY KEY, breaking INTEGER NOT NULL, applied_at INTEGER)',
    );
    for (const { version, breaking, sql } of sqliteMigrations()) {
      handle.exec(sql);
      const row = `(${version}, ${Number(breaking)}, 0)`;
      handle.exec(`INSERT INTO idempotency_records_migrations VALUES ${row}`);
    }
    await new Scene(new SqliteStore(handle)).finish('A', anyResponse());
    handle.close();
    directory.remove();
  },

  'tables may have any name, beside each other and beside tables of the app': async (driver) => {
    const { directory, openHandle } = setup(driver);
    const handle = openHandle();
    handle.exec('CREATE TABLE labels (id TEXT) STRICT; INSERT INTO labels VALUES (1)');
    const names = ['a"b; DROP TABLE labels; --', 'Größe 🏷', "o'neill", 'idempotency_records'];
    for (const table of names) {
      const store = new SqliteStore(handle, { table });
      await store.migrate();
      await new Scene(store).finish('A', anyResponse(table));
      await new Scene(store).expectReplay(anyResponse(table), 'B');
    }
    expect(handle.prepare('SELECT count(*) AS n FROM labels').get()).toMatchObject({ n: 1 });
    handle.close();
    directory.remove();
  },

  'a file that is not a database, or may not be written, is named in one sentence': async (
    driver,
  ) => {
    const { directory, path, openHandle } = setup(driver);
    writeFileSync(path, 'This is no database, but a text of more than a hundred bytes. '.repeat(9));
    const text = openHandle();
    const refusal = (why: string) => ({
      code: 'database_unusable',
      message: expect.stringMatching(new RegExp(`^The SQLite database ${why}`)),
    });
    const migrating = new SqliteStore(text).migrate();
    await expect(migrating).rejects.toMatchObject(refusal('is not an SQLite database'));
    text.close();
    directory.remove();

    const other = setup(driver);
    await new SqliteStore(other.openHandle()).migrate();
    const readOnly = new SqliteStore(other.openHandle(true));
    const claim = new Scene(readOnly).claim('A');
    await expect(claim).rejects.toMatchObject(refusal('may not be written'));
    other.directory.remove();
  },

  'a database in memory is refused, since it forgets': async (driver) => {
    const { directory } = setup(driver);
    const handle = driver.open(':memory:');
    await expect(new SqliteStore(handle).migrate()).rejects.toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining('MemoryStore'),
    });
    handle.close();
    directory.remove();
  },
};

function setup(driver: SqliteDriver) {
  const directory = new TemporaryDirectory();
  const path = directory.file('records.db');
  const openHandle = (readOnly = false) => driver.open(path, { readOnly });
  const pragma = (handle: SqliteHandle, name: string) =>
    Object.values(handle.prepare(`PRAGMA ${name}`).get() as object)[0];
  return { directory, path, openHandle, pragma };
}

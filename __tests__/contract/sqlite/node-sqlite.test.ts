import { SqliteStore } from '../../../src/stores/sqlite/index.ts';
import { anyResponse, Scene } from '../../../src/testing/contract-scene.ts';
import { TemporaryDirectory } from './database.ts';
import { describeSqlite } from './describe-sqlite.ts';
import { sqliteDriver } from './driver.ts';

const driver = sqliteDriver('node:sqlite');

if (driver === undefined) {
  test('Node 20 has no node:sqlite: there the same runs on better-sqlite3', () => {
    expect(process.version).toMatch(/^v20\./);
  });
} else {
  describeSqlite(driver);
}

// Only here can the limit be lowered: the true one is a gigabyte.
if (driver !== undefined && 'limits' in driver.open(':memory:')) {
  test('a response beyond the limit of this SQLite is refused alone, as too large', async () => {
    const directory = new TemporaryDirectory();
    const handle = driver.open(directory.file('records.db'));
    const store = new SqliteStore(handle);
    await store.migrate();
    Object.assign((handle as object as { limits: object }).limits, { length: 20_000 });
    const scene = new Scene(store);
    for (const key of ['large', 'small']) await scene.expectNew('A', { key });
    const body = Buffer.alloc(20_000);
    const large = scene.complete('A', { ...anyResponse(), body }, { key: 'large' });
    const small = scene.complete('A', anyResponse(), { key: 'small' });
    await expect(large).rejects.toMatchObject({ code: 'record_too_large' });
    await small;
    await scene.complete('A', { kept: false, status: 201 }, { key: 'large' });
    await scene.expectReplay({ kept: false, status: 201 }, 'B', { key: 'large' });
    await scene.expectReplay(anyResponse(), 'B', { key: 'small' });
    handle.close();
    directory.remove();
  });
}

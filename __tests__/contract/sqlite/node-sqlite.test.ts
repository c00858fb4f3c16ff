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

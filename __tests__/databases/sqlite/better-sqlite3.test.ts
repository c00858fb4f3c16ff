import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeSqlite } from '../../contract/sqlite/describe-sqlite.ts';
import { DRIVERS, sqliteDriver } from '../../contract/sqlite/driver.ts';

// Version 12 is compiled for one Node, and is compiled for Node 20 here; 13 needs 22 or newer.
const name = process.version.startsWith('v20.') ? 'better-sqlite3-12' : 'better-sqlite3-13';
const driver = sqliteDriver(name);

if (driver === undefined) {
  test(`${name} was not asked for: npm run test:set-up`, () => {
    // Installed, but of no use, is a failure.
    expect(existsSync(join(DRIVERS, 'node_modules', name))).toBe(false);
  });
} else {
  describeSqlite(driver);
}

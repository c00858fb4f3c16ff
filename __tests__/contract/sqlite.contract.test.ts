import { describeContract } from './describe-contract.ts';
import { NODE_SQLITE, sqliteDatabase } from './sqlite-databases.ts';

if (NODE_SQLITE === undefined) {
  test('Node 20 has no node:sqlite: the contract runs on better-sqlite3, in databases/', () => {
    expect(process.versions.node).toMatch(/^20\./);
  });
} else {
  const { DatabaseSync } = NODE_SQLITE;
  describeContract('SqliteStore on node:sqlite', [], (clock) =>
    sqliteDatabase((path) => new DatabaseSync(path), clock),
  );
}

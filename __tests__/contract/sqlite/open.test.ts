import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type SqliteHandle, SqliteStore } from '../../../src/stores/sqlite/index.ts';
import { anyResponse, Scene } from '../../../src/testing/contract-scene.ts';
import { TemporaryDirectory } from './database.ts';

// As if better-sqlite3 stood beside the package; `open` takes it where this Node has no SQLite.
jest.mock(
  'better-sqlite3',
  () => {
    const databases = jest.requireActual('./driver.ts').DRIVERS;
    const { createRequire: from } = jest.requireActual('node:module');
    return from(`${databases}/package.json`)('better-sqlite3-12');
  },
  { virtual: true },
);

const NOBODY = 65_534;

function setup() {
  const directory = new TemporaryDirectory();
  const path = directory.file('records.db');
  const unusable = (why: string, file = path) => ({
    code: 'database_unusable',
    message: expect.stringMatching(new RegExp(`^The SQLite file ${file} ${why}[^\n]*$`)),
  });
  return { directory, path, unusable };
}

test('a file that is not there is made, and keeps its records for the next open', async () => {
  const { directory, path } = setup();
  const store = await SqliteStore.open(path);
  await new Scene(store).finish('A', anyResponse());
  const beside = await SqliteStore.open(path);
  await new Scene(beside).expectReplay(anyResponse(), 'B');
  await beside.close();
  await store.close();
  await using again = await SqliteStore.open(path);
  await new Scene(again).expectReplay(anyResponse(), 'B');
  directory.remove();
});

test('the connection is closed with the store, and at the end of `await using`', async () => {
  const { directory, path } = setup();
  const store = await SqliteStore.open(path);
  await new Scene(store).expectNew('A');
  expect(existsSync(`${path}-wal`)).toBe(true);
  await store.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
  {
    await using other = await SqliteStore.open(path);
    await new Scene(other).expectKind('pending', 'B');
  }
  expect(existsSync(`${path}-wal`)).toBe(false);
  directory.remove();
});

test('close waits for what was called before', async () => {
  const { directory, path } = setup();
  const store = await SqliteStore.open(path);
  const scene = new Scene(store);
  const claims = Array.from({ length: 5 }, (_, n) => scene.claim('A', { key: `key ${n}` }));
  await store.close();
  for (const claim of claims) expect(await claim).toMatchObject({ kind: 'new' });
  await expect(scene.claim('A')).rejects.toMatchObject({ code: 'store_closed' });
  directory.remove();
});

test('a directory that is not there is named, and nothing is made', async () => {
  const { directory, unusable } = setup();
  const path = directory.file('not-there/records.db');
  await expect(SqliteStore.open(path)).rejects.toMatchObject(unusable('cannot be opened', path));
  expect(existsSync(dirname(path))).toBe(false);
  directory.remove();
});

test('a path that is a directory is named', async () => {
  const { directory, path, unusable } = setup();
  mkdirSync(path);
  await expect(SqliteStore.open(path)).rejects.toMatchObject(unusable('is a directory. Give'));
  directory.remove();
});

test('a file that is not a database is named, and left as it was', async () => {
  const { directory, path, unusable } = setup();
  const text = 'This is no database, but a text of more than a hundred bytes. '.repeat(9);
  writeFileSync(path, text);
  await expect(SqliteStore.open(path)).rejects.toMatchObject(unusable('is not an SQLite database'));
  expect(readFileSync(path, 'utf8')).toBe(text);
  directory.remove();
});

test('a directory and a file that may not be written are named', async () => {
  const { directory, path, unusable } = setup();
  chmodSync(directory.path, 0o755);
  await asNobody(async () => {
    await expect(SqliteStore.open(path)).rejects.toMatchObject(unusable('cannot be opened'));
  });
  await (await SqliteStore.open(path)).close();
  chmodSync(path, 0o444);
  await asNobody(async () => {
    await expect(SqliteStore.open(path)).rejects.toMatchObject(unusable('may not be written'));
  });
  directory.remove();
});

test.each([
  ['no path', () => SqliteStore.open(undefined as unknown as string), 'path of a file'],
  ['an empty path', () => SqliteStore.open(''), 'path of a file'],
  [
    'a path for a handle',
    async () => new SqliteStore('x' as unknown as SqliteHandle),
    'open(path)',
  ],
  ['no handle', async () => new SqliteStore(undefined as unknown as SqliteHandle), 'open handle'],
  ['an unknown option', () => SqliteStore.open('x', { tabel: 'x' } as object), 'Known are'],
  ['an empty table name', () => SqliteStore.open('x', { table: '' }), '`table`'],
  ["a table of SQLite's own", () => SqliteStore.open('x', { table: 'sqlite_x' }), '`table`'],
  ['a NUL in the table name', () => SqliteStore.open('x', { table: 'a\0b' }), '`table`'],
  ['no time', () => SqliteStore.open('x', { resultRetentionMs: 0 }), '`resultRetentionMs`'],
  [
    'half a millisecond',
    () => SqliteStore.open('x', { tombstoneRetentionMs: 0.5 }),
    'whole number',
  ],
  ['a time for a clock', () => SqliteStore.open('x', { now: 1 as never }), '`now`'],
])('%s is refused before anything is opened', async (_, open, what) => {
  await expect(open()).rejects.toMatchObject({
    code: 'option_invalid',
    message: expect.stringContaining(what),
  });
  expect(existsSync('x')).toBe(false);
});

test('a response that SQLite can never take is refused as too large', async () => {
  const { directory, path } = setup();
  await using store = await SqliteStore.open(path);
  const scene = new Scene(store);
  await scene.expectNew('A');
  const body = new Uint8Array(1_000_000_001);
  const refusal = { code: 'record_too_large' };
  await expect(scene.complete('A', { ...anyResponse(), body })).rejects.toMatchObject(refusal);
  await scene.complete('A', { kept: false, status: 201 });
  await scene.expectReplay({ kept: false, status: 201 }, 'B');
  directory.remove();
});

/** As a user without rights: root may write everywhere. */
async function asNobody(action: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    await action();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LabelTable } from '../../src/labels/label-table.ts';
import { openSqlite } from '../../src/labels/sqlite-handle.ts';

// On a Node without node:sqlite; the root does not install this driver.
jest.mock(
  'better-sqlite3',
  () => jest.requireActual('../databases/node_modules/better-sqlite3-12'),
  { virtual: true },
);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function setup() {
  const directory = await mkdtemp(join(tmpdir(), 'labels-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  const path = join(directory, 'labels.db');
  const open = async (): Promise<LabelTable> => {
    const table = await LabelTable.open(path);
    cleanups.push(() => table.close());
    return table;
  };
  return { path, open, table: await open() };
}

const OPERATION = { request_id: 'label-req-7', parcel_id: 'parcel-42' };

test('the first label is label-901, and the next ones count up', async () => {
  const { table } = await setup();
  expect(await table.create(OPERATION)).toEqual({ label_id: 'label-901', ...OPERATION });
  expect((await table.create(OPERATION)).label_id).toBe('label-902');
  expect((await table.create(OPERATION)).label_id).toBe('label-903');
});

test('a label is found again, also over another connection', async () => {
  const { table, open } = await setup();
  const label = await table.create(OPERATION);
  expect(await table.find('label-901')).toEqual(label);
  expect(await (await open()).find('label-901')).toEqual(label);
});

test('a file that another connection has locked is waited for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'labels-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  const path = join(directory, 'labels.db');
  const other = await openSqlite(path);
  cleanups.push(() => other.close());
  other.exec('PRAGMA journal_mode = DELETE');
  other.exec('CREATE TABLE other (id INTEGER) STRICT; BEGIN EXCLUSIVE');
  const committed = delay(150).then(() => other.exec('COMMIT'));
  const table = await LabelTable.open(path);
  await committed;
  cleanups.push(() => table.close());
  expect((await table.create(OPERATION)).label_id).toBe('label-901');
});

test.each(['label-902', 'label-0901', 'label-9e2', 'label-', 'Label-901', 'label-901 ', '901'])(
  'there is no label %j',
  async (label_id) => {
    const { table } = await setup();
    await table.create(OPERATION);
    expect(await table.find(label_id)).toBeUndefined();
  },
);

test('the number of a label that was deleted is not given to another one', async () => {
  const { table, path } = await setup();
  await table.create(OPERATION);
  await table.create(OPERATION);
  const handle = await openSqlite(path);
  handle.exec('DELETE FROM labels');
  handle.close();
  expect((await table.create(OPERATION)).label_id).toBe('label-903');
});

test('opening the file again changes nothing', async () => {
  const { table, path, open } = await setup();
  await table.create(OPERATION);
  const again = await open();
  const handle = await openSqlite(path);
  cleanups.push(() => handle.close());
  const counters = handle.prepare(
    "SELECT count(*) AS n FROM sqlite_sequence WHERE name = 'labels'",
  );
  expect(counters.get()).toEqual({ n: 1 });
  expect((await again.create(OPERATION)).label_id).toBe('label-902');
});

test('several connections on one file share one count', async () => {
  const { table, open } = await setup();
  const tables = [table, await open(), await open()];
  const labels = await Promise.all(
    Array.from({ length: 60 }, (_, index) => tables[index % 3]?.create(OPERATION)),
  );
  const ids = new Set(labels.map((label) => label?.label_id));
  expect(ids.size).toBe(60);
  expect(ids).toContain('label-901');
  expect(ids).toContain('label-960');
});

test('a label waits for another writer instead of failing', async () => {
  const { table, path } = await setup();
  const other = await openSqlite(path);
  cleanups.push(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const label = table.create(OPERATION);
  await new Promise((resolve) => setTimeout(resolve, 100));
  other.exec('COMMIT');
  expect((await label).label_id).toBe('label-901');
});

test('a label is on the disk before it is given out', async () => {
  const { path } = await setup();
  const handle = await openSqlite(path);
  cleanups.push(() => handle.close());
  expect(handle.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(handle.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
});

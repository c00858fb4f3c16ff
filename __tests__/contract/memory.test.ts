import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { MemoryStore } from '../../src/stores/memory.ts';
import { anyResponse, Scene } from '../../src/testing/contract-scene.ts';
import { SettableClock } from '../../src/testing/index.ts';

const DAY_MS = 24 * 3_600_000;

function setup(options = {}) {
  const clock = new SettableClock();
  const store = new MemoryStore({ now: clock.now, maxRecords: 3, ...options });
  return { clock, store, scene: new Scene(store) };
}

async function fill(scene: Scene) {
  await scene.expectNew('A', { key: 'pending' });
  await scene.finish('A', anyResponse(), { key: 'one' });
  await scene.finish('A', anyResponse(), { key: 'two' });
}

test('a full store refuses new keys, and evicts nothing', async () => {
  const { scene } = setup();
  await fill(scene);
  for (const owner of ['A', 'B']) {
    await expect(scene.claim(owner)).rejects.toMatchObject({
      code: 'store_full',
      message: expect.stringContaining('maxRecords'),
    });
  }
  await scene.expectKind('pending', 'B', { key: 'pending' });
  await scene.expectReplay(anyResponse(), 'B', { key: 'one' });
  await scene.expectReplay(anyResponse(), 'B', { key: 'two' });
  await scene.complete('A', anyResponse(), { key: 'pending' });
  await scene.expectReplay(anyResponse(), 'B', { key: 'pending' });
});

test('a full store has room again for what is released, or ended by retention', async () => {
  const { scene, clock } = setup();
  await fill(scene);
  await scene.release('A', { key: 'pending' });
  await scene.expectNew('A', { key: 'in its place' });
  await expect(scene.claim('A')).rejects.toMatchObject({ code: 'store_full' });
  clock.advance(31 * DAY_MS);
  await scene.expectNew('A');
  await scene.expectNew('A', { key: 'another' });
  await expect(scene.claim('A', { key: 'one' })).rejects.toMatchObject({ code: 'store_full' });
});

test('tombstones fill a store as records do', async () => {
  const { scene, store, clock } = setup();
  await fill(scene);
  clock.advance(DAY_MS);
  expect(await store.prune()).toBe(2);
  await expect(scene.claim('A')).rejects.toMatchObject({ code: 'store_full' });
  await scene.expectKind('expired', 'B', { key: 'one' });
});

test('what retention has ended goes by itself, with the claims that come', async () => {
  const { scene, store, clock } = setup({ maxRecords: 1_000 });
  for (let n = 0; n < 100; n += 1) await scene.finish('A', anyResponse(), { key: `key ${n}` });
  clock.advance(DAY_MS);
  for (let n = 0; n < 3; n += 1) await scene.expectNew('A', { key: `new ${n}` });
  expect(await store.prune()).toBe(0);
  await scene.expectKind('expired', 'B', { key: 'key 99' });
});

test('the times are options', async () => {
  const { scene, clock } = setup({ resultRetentionMs: 100, tombstoneRetentionMs: 50 });
  await scene.finish('A', anyResponse());
  clock.advance(99);
  await scene.expectReplay(anyResponse(), 'B');
  clock.advance(1);
  await scene.expectKind('expired', 'B');
  clock.advance(50);
  await scene.expectNew('B');
});

test.each([
  [{ maxRecords: 0 }, '`maxRecords` of MemoryStore to be a whole number from 1 to 16000000, got 0'],
  [{ maxRecords: '9' }, '`maxRecords` of MemoryStore to be a whole number'],
  [{ resultRetentionMs: Number.NaN }, '`resultRetentionMs`'],
  [{ tombstoneRetentionMs: -1 }, '`tombstoneRetentionMs`'],
  [{ now: 5 }, '`now` of MemoryStore to be a function'],
  [{ maxrecords: 9 }, 'got `maxrecords`. Did you mean `maxRecords`? Known are '],
  [null, 'an object of options, got null'],
])('%o is refused when the store is built', (options, what) => {
  expect(() => new MemoryStore(options as object)).toThrow(what);
});

test('a record takes at most 400 bytes beyond the bytes of its saved response', () => {
  const hook = join(__dirname, 'typescript-hook.cjs');
  const program = `require(${JSON.stringify(join(__dirname, 'memory-size.ts'))})`;
  const args = ['--expose-gc', '-r', hook, '-e', program];
  const sizes = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(sizes.pending).toBeGreaterThan(100);
  expect(sizes.pending).toBeLessThanOrEqual(400);
  expect(sizes.completed).toBeLessThanOrEqual(400);
  expect(sizes.tombstone).toBeLessThanOrEqual(400);
});

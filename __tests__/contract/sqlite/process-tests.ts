import { type SqliteHandle, SqliteStore } from '../../../src/stores/sqlite/index.ts';
import { anyResponse, attemptOf, callOf, Scene } from '../../../src/testing/contract-scene.ts';
import { TemporaryDirectory } from './database.ts';
import type { SqliteTests } from './describe-sqlite.ts';
import type { SqliteDriver } from './driver.ts';
import type { WorkerTask } from './worker.ts';
import { WorkerProcess } from './worker-process.ts';

/** Several processes on one file. */
export const PROCESS_TESTS: SqliteTests = {
  'of 16 parallel claims of each of 200 keys, over 2 processes, one is new': async (driver) => {
    const { start, openStore, end } = setup(driver);
    await openStore();
    const work = { keys: 200, parallel: 8 };
    const workers = await Promise.all(['one', 'two'].map((name) => start('claim', name, work)));
    for (const worker of workers) worker.go();
    const answers: string[] = [];
    for (const worker of workers) answers.push(...JSON.parse((await worker.end())[0] ?? '[]'));
    expect(answers).toHaveLength(200 * 16);
    const news = answers.filter((answer) => answer.endsWith(' new'));
    expect(new Set(news).size).toBe(200);
    expect(news).toHaveLength(200);
    expect(answers.filter((answer) => answer.endsWith(' pending'))).toHaveLength(200 * 15);
    end();
  },

  'many processes that start at once on an empty file make its tables once': async (driver) => {
    const { start, openStore, end } = setup(driver);
    const names = ['one', 'two', 'three', 'four', 'five'];
    const workers = await Promise.all(names.map((name) => start('open', name)));
    for (const worker of workers) worker.go();
    for (const worker of workers) expect(await worker.end()).toEqual(['migrated']);
    await new Scene(await openStore()).expectNew('A');
    end();
  },

  'kill -9 at any moment loses nothing that was acknowledged': async (driver) => {
    const { start, openStore, end } = setup(driver);
    await openStore();
    const acknowledged: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      const worker = await start('write', `round ${round}`);
      worker.go();
      // Killed after a number of lines that differs from round to round, mid-write.
      while (worker.said.length < 20 + round * 5) await tick();
      acknowledged.push(...(await worker.kill()));
    }
    const scene = new Scene(await openStore());
    const completed = keysOf(acknowledged, 'completed ');
    const claimed = keysOf(acknowledged, 'claimed ');
    expect(completed.length).toBeGreaterThan(20 * 5);
    for (const key of completed) await scene.expectReplay(anyResponse(`of ${key}`), 'B', { key });
    for (const key of claimed) {
      const { kind } = await scene.claim('B', { key });
      expect(['pending', 'replay']).toContain(kind);
    }
    end();
  },

  'a lock that another process holds blocks the call, and not the event loop': async (driver) => {
    const { start, openStore, end } = setup(driver);
    const scene = new Scene(await openStore());
    await scene.finish('A', anyResponse(), { key: 'completed' });
    const worker = await start('lock', 'holder');
    const claim = scene.claim('A');
    const longest = await longestPause(async () => {
      for (let n = 0; n < 30; n += 1) await tick(50);
      // Whatever needs no write is answered meanwhile.
      await scene.expectReplay(anyResponse(), 'B', { key: 'completed' });
    });
    worker.go();
    expect(await worker.end()).toEqual(['unlocked']);
    expect(await claim).toEqual({ kind: 'new', attempt: 1 });
    expect(longest).toBeLessThan(1_000);
    end();
  },

  'a lock that outlasts the deadline rejects the call, which is then never applied': async (
    driver,
  ) => {
    const { start, openStore, end } = setup(driver);
    const store = await openStore();
    const scene = new Scene(store);
    const worker = await start('lock', 'holder');
    const call = { ...callOf(), timeoutMs: 300 };
    await expect(store.claim('k', 'f', attemptOf('A'), call)).rejects.toMatchObject({
      code: 'store_busy',
    });
    worker.go();
    await worker.end();
    await tick(200);
    expect(await store.inspect('k')).toBeUndefined();
    await scene.expectNew('B');
    end();
  },
};

function setup(driver: SqliteDriver) {
  const directory = new TemporaryDirectory();
  const path = directory.file('records.db');
  const handles: SqliteHandle[] = [];
  const start = (task: WorkerTask['task'], name: string, more = {}) =>
    new WorkerProcess({ driver: driver.name, path, task, name, ...more }).ready();
  const openStore = async () => {
    const handle = driver.open(path);
    handles.push(handle);
    // As users have it, so that their own statements wait.
    handle.exec('PRAGMA busy_timeout = 10000');
    const store = new SqliteStore(handle);
    await store.migrate();
    return store;
  };
  const end = () => {
    for (const handle of handles) handle.close();
    directory.remove();
  };
  return { start, openStore, end };
}

function keysOf(lines: readonly string[], beginning: string): string[] {
  return lines.flatMap((line) =>
    line.startsWith(beginning) ? [line.slice(beginning.length)] : [],
  );
}

function tick(ms = 1): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** The longest time, in milliseconds, that no timer could run while `action` was under way. */
async function longestPause(action: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  await action();
  clearInterval(timer);
  return longest;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { NODE_RUNTIME } from '../../src/express/node-runtime.ts';
import { clearSharedTimer, setSharedTimer } from '../../src/express/shared-timers.ts';

function setup() {
  const ended: string[] = [];
  /** Sets a timer; resolves, once it has run, with how long that took. */
  const wait = (name: string, delayMs: number) =>
    new Promise<number>((resolve) => {
      const setMs = performance.now();
      setSharedTimer(() => {
        ended.push(name);
        resolve(performance.now() - setMs);
      }, delayMs);
    });
  return { ended, wait };
}

describe('timers that share one of Node', () => {
  test('run in the order in which they were set, none before its whole delay', async () => {
    const { ended, wait } = setup();
    const first = wait('first', 60);
    await wait('between', 25);
    const second = wait('second', 60);
    const third = wait('third', 60);
    for (const tookMs of await Promise.all([first, second, third])) {
      expect(tookMs).toBeGreaterThanOrEqual(60);
    }
    expect(ended).toEqual(['between', 'first', 'second', 'third']);
  });

  test('do not run once they are cleared, and the others do', async () => {
    const { ended, wait } = setup();
    const cleared = setSharedTimer(() => ended.push('cleared'), 20);
    const kept = wait('kept', 20);
    clearSharedTimer(cleared);
    await kept;
    expect(ended).toEqual(['kept']);
  });

  test('may be set while one of them runs, and again after all have ended', async () => {
    const { ended, wait } = setup();
    await new Promise<void>((resolve) => {
      setSharedTimer(() => void wait('inner', 10).then(() => resolve()), 10);
    });
    await wait('after', 10);
    expect(ended).toEqual(['inner', 'after']);
  });

  test('keep no process alive', () => {
    const count = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = count();
    const timer = setSharedTimer(() => {}, 61_000);
    expect(count()).toBe(before);
    clearSharedTimer(timer);
  });

  test('run in the asynchronous context of nobody', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen = await storage.run(
      'the request that set it',
      () =>
        new Promise((resolve) => setSharedTimer(() => resolve(storage.getStore() ?? 'none'), 15)),
    );
    expect(seen).toBe('none');
  });
});

test('owners are 128 random bits each, and no two are equal', () => {
  const owners = Array.from({ length: 3_000 }, () => NODE_RUNTIME.newOwner());
  expect(new Set(owners).size).toBe(3_000);
  for (const owner of owners) expect(owner).toMatch(/^[0-9a-f]{32}$/);
});

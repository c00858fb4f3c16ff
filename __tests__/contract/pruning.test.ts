import { setTimeout as delay } from 'node:timers/promises';
import { type PruningOptions, startPruning } from '../../src/stores/pruning.ts';

/** A store with `left` records to prune, which notes every step. */
function setup(left: number, options: PruningOptions = {}) {
  const steps: number[] = [];
  const state = { left, failing: false };
  const store = {
    async prune({ limit = 1_000 } = {}) {
      steps.push(limit);
      if (state.failing) throw new Error('down');
      const changed = Math.min(limit, state.left);
      state.left -= changed;
      return changed;
    },
  };
  return { steps, state, store, pruning: startPruning(store, options) };
}

test('a round goes on in steps until nothing is left, with pauses in between', async () => {
  const { steps, state, pruning } = setup(5, { batchSize: 2 });
  await delay(50);
  expect(state.left).toBe(3);
  while (state.left > 0) await delay(20);
  await delay(250);
  await pruning.stop();
  expect(steps).toEqual([2, 2, 2, 2]);
});

test('rounds come again, also after one that failed, which is told', async () => {
  const errors: unknown[] = [];
  const { state, pruning } = setup(1, { everyMs: 20, onError: (error) => errors.push(error) });
  await delay(50);
  state.failing = true;
  while (errors.length === 0) await delay(10);
  state.failing = false;
  state.left = 1;
  while (state.left > 0) await delay(10);
  await pruning.stop();
  expect(errors[0]).toMatchObject({ message: 'down' });
});

test('once it is disposed of no step begins, and nothing waits for the next round', async () => {
  const { steps, pruning } = setup(0, { everyMs: 60_000 });
  await pruning[Symbol.asyncDispose]();
  const count = steps.length;
  await delay(100);
  expect(steps).toHaveLength(count);
});

test.each([{ everyMs: 0 }, { batchSize: 1.5 }, { onError: 'x' as never }, { every: 1 } as never])(
  'an option that is not what it must be is refused: %j',
  (options) => {
    expect(() => startPruning({ prune: async () => 0 }, options)).toThrow('startPruning');
  },
);

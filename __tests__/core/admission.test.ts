import { askAdmit } from '../../src/core/admission.ts';
import { MemoryStore } from '../../src/stores/memory.ts';
import { ManualRuntime } from './manual-runtime.ts';
import { contextOf } from './recovery-rig.ts';

function setup() {
  const runtime = new ManualRuntime();
  const timeouts = { storeTimeoutMs: 1, admitTimeoutMs: 1, saveTimeoutMs: 1 };
  return { runtime, settings: { store: new MemoryStore(), runtime, ...timeouts } };
}

test('everybody is admitted where nobody is asked, and no timer is set', async () => {
  const { runtime, settings } = setup();
  expect(await askAdmit(contextOf('owner'), settings)).toBe(0);
  expect(runtime.timers).toBe(0);
});

test('who is asked is given the attempt, and answers 0, 429 or 503', async () => {
  const { settings } = setup();
  const context = contextOf('owner');
  for (const answer of [0, 429, 503]) {
    const asked: unknown[] = [];
    const admit = (attempt: unknown) => {
      asked.push(attempt);
      return answer;
    };
    expect(await askAdmit(context, settings, admit)).toBe(answer);
    expect(asked).toEqual([context]);
  }
});

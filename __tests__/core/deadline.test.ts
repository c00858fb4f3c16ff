import { LATE, withDeadline } from '../../src/core/deadline.ts';
import { ManualRuntime } from './manual-runtime.ts';

function setup() {
  const runtime = new ManualRuntime();
  const call = <T>(start: () => T | PromiseLike<T>) => withDeadline(runtime, 1_000, start);
  return { runtime, call };
}

describe('a call with a deadline', () => {
  test('that is answered in time leaves no timer behind', async () => {
    const { runtime, call } = setup();
    await expect(call(async () => 'answer')).resolves.toBe('answer');
    expect(runtime.timers).toBe(0);
  });

  test('that rejects in time leaves no timer behind', async () => {
    const { runtime, call } = setup();
    await expect(call(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(runtime.timers).toBe(0);
  });

  test('that throws at once is a rejection, and leaves no timer behind', async () => {
    const { runtime, call } = setup();
    const thrower = (): string => {
      throw new Error('at once');
    };
    await expect(call(thrower)).rejects.toThrow('at once');
    expect(runtime.timers).toBe(0);
  });

  test('may be answered with what is no promise', async () => {
    const { call } = setup();
    await expect(call(() => 'answer')).resolves.toBe('answer');
  });

  test("is late exactly at its deadline, and a rejection after that is nobody's", async () => {
    const { runtime, call } = setup();
    let reject: (error: Error) => void = () => {};
    const never = new Promise<string>((_, no) => {
      reject = no;
    });
    let ended: unknown;
    void call(() => never).then((value) => {
      ended = value;
    });
    await runtime.advance(999);
    expect(ended).toBeUndefined();
    await runtime.advance(1);
    expect(ended).toBe(LATE);
    reject(new Error('too late'));
    await runtime.advance(1);
  });
});

import { AttemptContext } from '../../src/core/attempt-context.ts';

function setup() {
  const identity = {
    key: 'k',
    recordKey: 'k',
    tenant: undefined,
    operation: undefined,
    fingerprint: 'f',
  };
  const watchers: (() => void)[] = [];
  const context = new AttemptContext(identity, 'owner', (gone) => watchers.push(gone));
  return { context, watchers };
}

describe('the signal of an attempt', () => {
  test('is aborted when the client leaves, and watched for once', () => {
    const { context, watchers } = setup();
    expect([context.signal.aborted, context.signal.aborted]).toEqual([false, false]);
    expect(watchers).toHaveLength(1);
    watchers[0]?.();
    expect(context.signal.aborted).toBe(true);
  });

  test('is aborted from the start where the client had left before anyone looked', () => {
    const { context, watchers } = setup();
    AttemptContext.clientGone(context);
    expect(context.signal.aborted).toBe(true);
    expect(watchers).toHaveLength(0);
  });

  test('is aborted on an attempt that is frozen, too', () => {
    const { context, watchers } = setup();
    AttemptContext.claimed(context, 3);
    expect(context.attempt).toBe(3);
    expect(Object.isFrozen(context)).toBe(true);
    const { signal } = context;
    watchers[0]?.();
    expect(signal.aborted).toBe(true);
  });
});

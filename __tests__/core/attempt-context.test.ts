import { AttemptContext } from '../../src/core/attempt-context.ts';
import { done } from '../../src/core/recovery-outcome.ts';

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

describe('what a handler gives to its attempt', () => {
  const CARD = '{"card":"4111111111111111"}';

  test.each<[string, (context: AttemptContext) => unknown, string]>([
    ['settle', ({ settle }) => settle, 'settle(…) to be given done(response), got a string'],
    ['commitSync', ({ commitSync }) => commitSync, 'commitSync(…) to be given a function, got a'],
  ])('is never shown where it is not what %s takes', async (_, pick, sentence) => {
    const { context } = setup();
    const call = pick(context) as (given: unknown) => unknown;
    const error = await (async () => call.call(context, CARD))().catch((thrown: Error) => thrown);
    expect((error as Error).message).toContain(sentence);
    expect((error as Error).message).not.toContain('4111');
  });

  test('names the argument of downstreamKey, and no option', () => {
    const { context } = setup();
    const ask = () => context.downstreamKey('carrier', CARD as never);
    expect(ask).toThrow("Expected downstreamKey(…) to be given 'text' or 'uuid', got a string.");
    expect(() => context.downstreamKey(7 as never)).toThrow('a name for the provider, got 7.');
  });

  test('comes too early in admit, and is told to move', async () => {
    const { context } = setup();
    const early = { code: 'transaction_over', message: expect.stringContaining('as in admit') };
    await expect(context.settle(done({ status: 201 }))).rejects.toMatchObject(early);
  });
});

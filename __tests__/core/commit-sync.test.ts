import { background } from '../../src/core/background.ts';
import { FencedError, IdempotencyError } from '../../src/core/errors.ts';
import { blind, transactional } from '../../src/core/recovery.ts';
import { done } from '../../src/core/recovery-outcome.ts';
import { MINUTE_MS, RESPONSE } from './attempt-rig.ts';
import { settled } from './manual-runtime.ts';
import { hearEvents, recoveryRig } from './recovery-rig.ts';

const MADE = { status: 201, body: 'made' };
const FAILED = { ...RESPONSE, status: 500 };

describe('commitSync', () => {
  const { names } = hearEvents();
  afterEach(() => {
    expect(background()).toEqual({ unsavedBytes: 0, unacknowledgedReleases: 0 });
  });

  const throwing = (error: unknown) => () => {
    throw error;
  };

  async function setup(plan?: unknown) {
    const rig = recoveryRig(transactional());
    const attempt = await rig.run();
    if (plan !== undefined) rig.calls.plan('commitSync', throwing(plan));
    return { ...rig, attempt };
  }

  test('keeps what was written and the response at once, and ends the attempt', async () => {
    const { attempt, calls, begin, runtime } = await setup();
    const handles: unknown[] = [];
    const response = attempt.commitSync((tx) => {
      handles.push(tx);
      return MADE;
    });
    expect(response).toEqual(done(MADE).response);
    expect(handles).toEqual(['the handle']);
    expect(calls.toString()).toBe('claim commitSync');
    expect(names()).toBe('claimed completed');
    expect(await begin().claim()).toEqual({ kind: 'replay', response });
    expect(() => attempt.commitSync(() => MADE)).toThrow(
      expect.objectContaining({ code: 'already_answered' }),
    );
    expect(runtime.timers).toBe(0);
  });

  test('passes on what is thrown in it; the error then frees the key', async () => {
    const down = new Error('constraint');
    const { attempt, begin, calls } = await setup();
    expect(() => attempt.commitSync(throwing(down))).toThrow(down);
    expect(await attempt.conclude(FAILED, false)).toEqual({ kind: 'undone' });
    expect(calls.toString()).toBe('claim commitSync release');
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });

  test.each([undefined, null, 'made', { body: 'no status' }])(
    'that answers %p keeps nothing, since that is no response',
    async (words) => {
      const { attempt, calls, memory } = await setup();
      const error = expect.objectContaining({ code: 'response_invalid' });
      expect(() => attempt.commitSync(() => words)).toThrow(error);
      expect(await attempt.conclude(FAILED, false)).toEqual({ kind: 'undone' });
      expect(calls.toString()).toBe('claim commitSync release');
      expect(await memory.inspect('k')).toBeUndefined();
    },
  );

  test('may be tried again by a handler that has caught what undid it', async () => {
    const { attempt } = await setup(new IdempotencyError('store_busy', 'busy'));
    expect(() => attempt.commitSync(() => MADE)).toThrow('busy');
    expect(attempt.commitSync(() => MADE).status).toBe(201);
  });

  test('by an attempt that was taken over tells the client what the record says', async () => {
    const { attempt, calls } = await setup(new FencedError());
    expect(() => attempt.commitSync(() => MADE)).toThrow('another attempt');
    expect(attempt.hasToConclude(false)).toBe(true);
    expect(await attempt.conclude(FAILED, false)).toMatchObject({
      kind: 'superseded',
      found: { state: 'pending' },
    });
    expect(calls.count('release')).toBe(0);
  });

  test('that answers a promise keeps nothing, and the key stays pending', async () => {
    const { attempt, calls, begin } = await setup();
    const write = async () => {
      throw new Error('later');
    };
    const error = expect.objectContaining({ code: 'commit_not_synchronous' });
    expect(() => attempt.commitSync(write)).toThrow(error);
    await settled();
    expect(attempt.hasToConclude(false)).toBe(true);
    expect(await attempt.conclude(FAILED, false)).toEqual({ kind: 'undone' });
    expect(calls.count('release')).toBe(0);
    expect(names()).toBe('claimed left-pending');
    expect(await begin().claim()).toMatchObject({ kind: 'pending' });
  });

  test('that may have been kept leaves the key pending', async () => {
    const { attempt, memory, calls } = await setup(new IdempotencyError('commit_unclear', 'disk'));
    expect(() => attempt.commitSync(() => MADE)).toThrow('disk');
    expect(await attempt.conclude(FAILED, false)).toEqual({ kind: 'undone' });
    expect(calls.count('release')).toBe(0);
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending' });
  });

  test('that may have been kept lets no other answer out', async () => {
    const { attempt, calls, begin } = await setup();
    calls.plan('commitSync', (apply) => {
      apply();
      throw new IdempotencyError('commit_unclear', 'disk');
    });
    const { response } = done(MADE);
    expect(() => attempt.commitSync(() => MADE)).toThrow('disk');
    expect(await attempt.conclude({ ...RESPONSE, status: 200 }, true)).toMatchObject({
      kind: 'superseded',
      found: { state: 'completed', response },
    });
    expect(await begin().claim()).toEqual({ kind: 'replay', response });
  });

  test('that may have been kept frees no key when the answer is destroyed', async () => {
    const { attempt, calls } = await setup(new IdempotencyError('commit_unclear', 'disk'));
    expect(() => attempt.commitSync(() => MADE)).toThrow('disk');
    attempt.abandon();
    await settled();
    expect(calls.count('release')).toBe(0);
    expect(attempt.isLeft).toBe(true);
  });

  test('counts for more than the word neverStarted that was said before', async () => {
    const { attempt, calls } = await setup(new IdempotencyError('commit_unclear', 'disk'));
    attempt.sayNeverStarted();
    expect(() => attempt.commitSync(() => MADE)).toThrow('disk');
    attempt.sayNeverStarted();
    await attempt.conclude(FAILED, false);
    expect(calls.count('release')).toBe(0);
  });

  test('is not needed for an answer that goes with no writes', async () => {
    const { attempt, calls } = await setup();
    expect(await attempt.conclude({ ...RESPONSE, status: 404 }, true)).toEqual({ kind: 'saved' });
    expect(calls.toString()).toBe('claim complete');
  });

  test('is refused where an adapter opens the transactions, and in other modes', async () => {
    const error = expect.objectContaining({ code: 'transaction_over' });
    const withAdapter = await recoveryRig((database) => transactional(database)).run();
    expect(() => withAdapter.commitSync(() => MADE)).toThrow(error);
    const { run } = recoveryRig(blind());
    const other = await run();
    expect(() => other.commitSync(() => MADE)).toThrow(error);
    expect(() => other.tx).toThrow(error);
  });

  test('is refused by a store that has none, and tx where the store commits', async () => {
    const { attempt, run, memory } = await setup();
    const note = { by: 'a test', reason: 'a test' };
    const error = expect.objectContaining({ code: 'transaction_over' });
    expect(() => attempt.tx).toThrow(error);
    await memory.settle('k', { kind: 'never-started' }, note, { force: true });
    const bare = await run({ store: memory });
    expect(() => bare.commitSync(() => MADE)).toThrow(error);
  });

  test('has no time limit of its own', async () => {
    const { attempt, runtime } = await setup();
    await runtime.advance(11 * MINUTE_MS);
    expect(attempt.commitSync(() => MADE).status).toBe(201);
  });
});

import { keyed, type Recovery, sealed } from '../../src/core/recovery.ts';
import { neverStarted } from '../../src/core/recovery-outcome.ts';
import type { Attempt } from '../../src/core/store.ts';
import { MINUTE_MS, RESPONSE } from './attempt-rig.ts';
import { ManualRuntime } from './manual-runtime.ts';
import { LEASE_MS, recoveryRig } from './recovery-rig.ts';

/** What a handler acts on: it takes one effect, and nothing from attempts below its seal. */
class Resource {
  readonly effects: number[] = [];
  #seal = 0;

  /** Recognises a key, however often it comes. */
  actOnce(attempt: number): void {
    if (this.effects.length === 0) this.effects.push(attempt);
  }

  actUnlessSealed(attempt: number): void {
    if (attempt >= this.#seal) this.effects.push(attempt);
  }

  seal(attempt: number): void {
    this.#seal = Math.max(this.#seal, attempt);
  }
}

interface Mode {
  readonly name: string;
  recovery(resource: Resource): Recovery;
  act(resource: Resource, attempt: Attempt): void;
}

const MODES: readonly Mode[] = [
  {
    name: 'with a provider that recognises a key',
    recovery: () => keyed({ rerunWithinMs: 60 * MINUTE_MS }),
    act: (resource, { attempt }) => resource.actOnce(attempt),
  },
  {
    name: 'with a resource that can be sealed',
    recovery: (resource) =>
      sealed({
        recover: ({ attempt }) => {
          resource.seal(attempt);
          return neverStarted();
        },
      }),
    act: (resource, { attempt }) => resource.actUnlessSealed(attempt),
  },
];

describe.each(MODES)('the number of an attempt $name', ({ recovery, act }) => {
  function setup() {
    const resource = new Resource();
    return { resource, ...recoveryRig(recovery(resource)) };
  }

  test('never goes down: paused, taken over, refused, claimed afresh, woken up, it acts once', async () => {
    const { resource, run, begin, runtime, memory } = setup();
    // The first is stopped before it acts.
    const first = await run({ runtime: new ManualRuntime() });
    await runtime.advance(LEASE_MS);
    // The second takes over, and is refused.
    const second = begin();
    expect(await second.claim()).toEqual({ kind: 'new', attempt: 2 });
    expect(await second.admit(() => 503)).toBe(503);
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    // The third asks afresh, and is not told to be the first.
    const third = await run();
    expect(third.context.attempt).toBe(3);
    act(resource, third.context);
    // The first wakes up and acts.
    act(resource, first.context);
    expect((await first.complete({ ...RESPONSE, status: 200 })).kind).toBe('superseded');
    expect(await third.complete(RESPONSE)).toEqual({ kind: 'saved' });
    expect(resource.effects).toEqual([3]);
    expect(await begin().claim()).toEqual({ kind: 'replay', response: RESPONSE });
  });

  test('never goes down by the word of a handler, or of an operator, that nothing was begun', async () => {
    const { run, runtime, begin, memory } = setup();
    await run({ runtime: new ManualRuntime() });
    await runtime.advance(LEASE_MS);
    const second = await run();
    second.sayNeverStarted();
    expect(await second.conclude({ ...RESPONSE, status: 503 }, false)).toEqual({ kind: 'undone' });
    const third = begin();
    expect(await third.claim()).toEqual({ kind: 'new', attempt: 3 });
    const note = { by: 'a test', reason: 'a test' };
    await memory.settle('k', { kind: 'never-started' }, note, { force: true });
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 4 });
  });

  test('begins again at 1 once the first attempt has given the key back itself', async () => {
    const { run, begin } = setup();
    const first = await run();
    first.sayNeverStarted();
    await first.conclude({ ...RESPONSE, status: 503 }, false);
    expect(await begin().claim()).toEqual({ kind: 'new', attempt: 1 });
  });
});

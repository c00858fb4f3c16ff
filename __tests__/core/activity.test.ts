import { activityOf, inBackground, Presence } from '../../src/core/activity.ts';
import { blind, keyed } from '../../src/core/recovery.ts';
import { MINUTE_MS, RESPONSE } from './attempt-rig.ts';
import { rejects } from './planned-calls.ts';
import { recoveryRig } from './recovery-rig.ts';

describe('the account of a store', () => {
  const setup = () => recoveryRig(blind());

  test('is one for all who ask, and another for another store', () => {
    const [store, other] = [{}, {}];
    expect(activityOf(store)).toBe(activityOf(store));
    expect(activityOf(store)).not.toBe(activityOf(other));
  });

  test('counts an attempt from its claim to its answer, once', async () => {
    const { begin, run, running } = setup();
    expect(running()).toBe(0);
    const claim = begin().claim();
    expect(running()).toBe(1);
    await claim;
    const refused = await begin().claim();
    expect([refused.kind, running()]).toEqual(['pending', 1]);
    await expect(run()).rejects.toThrow('pending');
    expect(running()).toBe(1);
  });

  test.each<[string, (rig: ReturnType<typeof setup>) => Promise<unknown>]>([
    ['is saved', async ({ run }) => (await run()).complete(RESPONSE)],
    ['is left pending', async ({ run }) => (await run()).leavePending(500)],
    ['is destroyed', async ({ run }) => (await run()).abandon()],
    [
      'was refused',
      async ({ begin }) => {
        const attempt = begin();
        await attempt.claim();
        await attempt.admit(() => 429);
        await attempt.release();
      },
    ],
    [
      'got no answer from the store',
      async ({ begin, calls, runtime }) => {
        calls.plan('claim', rejects());
        await begin().claim();
        await runtime.advance(MINUTE_MS);
      },
    ],
    [
      'never asked the store',
      async ({ begin }) => {
        await begin().release();
      },
    ],
  ])('counts none that %s', async (_, end) => {
    const rig = setup();
    await end(rig);
    expect(rig.running()).toBe(0);
  });

  test('counts an unsaved outcome as work in the background, and not as running', async () => {
    const { run, calls, runtime, running, activity } = setup();
    const attempt = await run();
    calls.plan('complete', rejects(), 100);
    const saving = attempt.complete(RESPONSE);
    await runtime.advance(15_000);
    await saving;
    expect([running(), activity.inBackground]).toEqual([0, 1]);
    let told = 0;
    activity.whenIdle.add(() => {
      told += 1;
    });
    await runtime.advance(1_000);
    expect(told).toBe(0);
    calls.heal();
    await runtime.advance(5_000);
    expect([activity.inBackground, told]).toEqual([0, 1]);
  });

  test('counts one that comes, or goes, twice as one', () => {
    const activity = activityOf({});
    const presence = new Presence(activity);
    presence.leave();
    expect(activity.running).toBe(0);
    presence.enter();
    presence.enter();
    expect(activity.running).toBe(1);
    presence.leave();
    presence.leave();
    expect(activity.running).toBe(0);
  });

  test('tells nobody before all has come to rest', async () => {
    const { run, activity } = setup();
    const attempt = await run();
    let told = 0;
    activity.whenIdle.add(() => {
      told += 1;
    });
    await expect(inBackground(activity, Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect([activity.inBackground, told]).toEqual([0, 0]);
    await attempt.complete(RESPONSE);
    expect(told).toBe(1);
  });
});

describe('an attempt on a store that is being drained', () => {
  function setup() {
    const rig = recoveryRig(keyed({ rerunWithinMs: 60 * MINUTE_MS }));
    rig.activity.isDraining = true;
    return rig;
  }

  test('is not admitted to a new key, whatever admit would say, and gives it back', async () => {
    const { begin, calls } = setup();
    const attempt = begin();
    expect(await attempt.claim()).toEqual({ kind: 'new', attempt: 1 });
    const admit = jest.fn(() => 0);
    expect(await attempt.admit(admit)).toBe(503);
    expect(admit).not.toHaveBeenCalled();
    expect(calls.toString()).toBe('claim release');
  });

  test('takes no key over', async () => {
    const { abandon, begin, calls } = setup();
    await abandon();
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: true });
    expect(calls.toString()).toBe('claim');
  });

  test('is not admitted to a key that it took over before, whose number stays', async () => {
    const { abandon, begin, memory, activity } = setup();
    activity.isDraining = false;
    await abandon();
    const attempt = begin();
    await attempt.claim();
    activity.isDraining = true;
    expect(await attempt.admit()).toBe(503);
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
  });
});

import { recordReference } from '../../src/core/record-key.ts';
import { type AbandonedOptions, blind } from '../../src/core/recovery.ts';
import { RESPONSE } from './attempt-rig.ts';
import { rejects } from './planned-calls.ts';
import { hearEvents, LEASE_MS, recoveryRig } from './recovery-rig.ts';

describe('an abandoned key that is to end as unknown', () => {
  const { names } = hearEvents();
  const setup = (response?: Pick<AbandonedOptions, 'response'>) =>
    recoveryRig(blind({ onAbandoned: 'unknown', ...response }));

  const textOf = (claim: unknown) => {
    const { response } = claim as { response: { body: Uint8Array } };
    return Buffer.from(response.body).toString();
  };

  test('ends with a definite answer, which every retry is given, and nothing runs', async () => {
    const { abandon, begin, memory } = setup();
    await abandon();
    const attempt = begin();
    const first = await attempt.claim();
    expect(first).toMatchObject({ kind: 'replay', response: { kept: true, status: 409 } });
    expect(textOf(first)).toBe('{"error":"outcome_unknown"}');
    await expect(attempt.admit()).rejects.toThrow('ended');
    expect(await begin().claim()).toEqual(first);
    expect(await memory.inspect('k')).toMatchObject({ state: 'completed', attempt: 2 });
    expect(names()).toBe('taken-over completed replayed');
  });

  test('names the record for an operator, in a line of its own', async () => {
    const { abandon, begin } = setup();
    await abandon();
    expect(await begin().claim()).toMatchObject({
      response: {
        headers: [
          ['Content-Type', 'application/json'],
          ['Idempotency-Reference', recordReference('k')],
        ],
      },
    });
  });

  test('ends with the words of the user, who is given the reference', async () => {
    const response = (reference: string) => ({ status: 410, body: { ask: reference } });
    const { abandon, begin } = setup({ response });
    await abandon();
    const claim = await begin().claim();
    expect(claim).toMatchObject({ response: { status: 410 } });
    expect(textOf(claim)).toBe(JSON.stringify({ ask: recordReference('k') }));
  });

  test('ends with a plain answer of the user, and the reference beside it', async () => {
    const { abandon, begin } = setup({ response: { status: 418, headers: { A: 'b' } } });
    await abandon();
    expect(await begin().claim()).toMatchObject({
      response: {
        status: 418,
        headers: [
          ['A', 'b'],
          ['Idempotency-Reference', recordReference('k')],
        ],
      },
    });
  });

  test('ends once, for two who ask at once', async () => {
    const { abandon, begin, calls } = setup();
    await abandon();
    const claims = await Promise.all([begin().claim(), begin().claim()]);
    expect(claims.map(({ kind }) => kind)).toEqual(['replay', 'pending']);
    expect(await begin().claim()).toEqual(claims[0]);
    expect(calls.count('complete')).toBe(1);
  });

  test('tells the attempt that wakes up the same answer, and not its own', async () => {
    const { runInStoppedProcess, runtime, begin } = setup();
    const stopped = await runInStoppedProcess();
    await runtime.advance(LEASE_MS);
    const claim = await begin().claim();
    expect(await stopped.complete(RESPONSE)).toMatchObject({
      kind: 'superseded',
      found: { response: (claim as { response: unknown }).response },
    });
    expect(await begin().claim()).toEqual(claim);
  });

  test('is told as unavailable while the store takes nothing, and ends later', async () => {
    const { abandon, begin, calls, runtime } = setup();
    await abandon();
    calls.plan('complete', rejects(), 100);
    const claim = begin().claim();
    await runtime.advance(15_000);
    expect(await claim).toEqual({ kind: 'unavailable' });
    calls.heal();
    await runtime.advance(5_000);
    expect(await begin().claim()).toMatchObject({ kind: 'replay', response: { status: 409 } });
  });

  test('whose words fail stays pending, and says so', async () => {
    let isMade = false;
    const response = () => {
      if (isMade) throw new Error('no words');
      isMade = true;
      return { status: 409 };
    };
    const { abandon, begin, memory, runtime } = setup({ response });
    await abandon();
    expect(await begin().claim()).toEqual({ kind: 'pending', leaseOver: true });
    expect(names()).toBe('taken-over recover-failed released pending');
    expect(await memory.inspect('k')).toMatchObject({ state: 'pending', attempt: 2 });
    expect(runtime.timers).toBe(0);
  });
});

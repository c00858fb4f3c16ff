import {
  blind,
  done,
  keyed,
  neverStarted,
  type Recovery,
  type SealedOptions,
  sealed,
  unknown,
} from '../../src/index.ts';
import { gate, until } from '../http/gate.ts';
import { valuesOf } from '../http/served.ts';
import { endAll, LEASE_MS, PENDING, PLACES, recoveryApp, said } from './recovery-app.ts';

describe.each(PLACES)('a key whose first attempt is stopped, in $place', (place) => {
  afterEach(endAll);

  /** The first handler stops until it is woken; the second answers at once. */
  async function setup(recovery: Recovery, admit: () => 0 | 429 = () => 0) {
    const wake = gate();
    const app = await recoveryApp(place.framework, place.makeStore, { recovery, admit }, [
      async (req, res) => {
        const key = req.idempotency?.downstreamKey('carrier');
        await wake.opened;
        res.setHeader('X-Attempt', '1').status(200).json({ key, by: 'first' });
      },
      (req, res) => {
        const key = req.idempotency?.downstreamKey('carrier');
        res.append('ETag', '"a"').append('ETag', '"b"');
        res.status(201).json({ key, by: 'second', attempt: req.idempotency?.attempt });
      },
    ]);
    const stopped = app.ask();
    await until(() => app.runs.length === 1);
    const leaseEnds = () => app.clock.advance(LEASE_MS);
    return { ...app, stopped, wake: wake.open, leaseEnds };
  }

  test('stays pending for ever by default, until its handler answers', async () => {
    const { ask, stopped, wake, clock, runs } = await setup(blind());
    clock.advance(1_000 * LEASE_MS);
    expect(said(await ask())).toEqual(PENDING);
    wake();
    const first = await stopped;
    expect(first.status).toBe(200);
    expect(await ask()).toEqual(first);
    expect(runs).toHaveLength(1);
  });

  test('runs again with the same downstream key, and whoever wakes up is told that result', async () => {
    const recovery = keyed({ rerunWithinMs: 10 * LEASE_MS });
    const { ask, stopped, wake, leaseEnds, runs } = await setup(recovery);
    expect(said(await ask())).toEqual(PENDING);
    leaseEnds();
    const second = await ask();
    expect(second.status).toBe(201);
    const { key, attempt } = JSON.parse(second.body);
    expect([key, attempt]).toEqual([runs[0]?.downstreamKey('carrier'), 2]);
    expect(valuesOf(second, 'ETag')).toEqual(['"a"', '"b"']);
    wake();
    expect(await stopped).toEqual(second);
    expect(await ask()).toEqual(second);
    expect(runs).toHaveLength(2);
  });

  test('is not run again once the window of its provider is over', async () => {
    const recovery = keyed({ rerunWithinMs: LEASE_MS + 1 });
    const { ask, stopped, wake, clock, runs } = await setup(recovery);
    clock.advance(LEASE_MS + 2);
    expect(said(await ask())).toEqual(PENDING);
    wake();
    const first = await stopped;
    expect(first.status).toBe(200);
    expect(await ask()).toEqual(first);
    expect(runs).toHaveLength(1);
  });

  test('ends with what recover found, which everyone is told', async () => {
    const found = done({ status: 201, headers: { ETag: ['"x"', '"y"'] }, body: { by: 'recover' } });
    const { ask, stopped, wake, leaseEnds, runs } = await setup(sealed({ recover: () => found }));
    leaseEnds();
    const recovered = await ask();
    expect(said(recovered)).toEqual([201, '{"by":"recover"}']);
    expect(valuesOf(recovered, 'ETag')).toEqual(['"x"', '"y"']);
    wake();
    expect(await stopped).toEqual(recovered);
    expect(await ask()).toEqual(recovered);
    expect(runs).toHaveLength(1);
  });

  test('runs again once recover knows that it never started, and admit is asked after it', async () => {
    const order: string[] = [];
    const recover: SealedOptions['recover'] = async ({ attempt }) => {
      order.push(`recover ${attempt}`);
      return neverStarted();
    };
    const admit = () => {
      order.push('admit');
      return 0 as const;
    };
    const { ask, stopped, wake, leaseEnds } = await setup(sealed({ recover }), admit);
    leaseEnds();
    const second = await ask();
    expect(JSON.parse(second.body)).toMatchObject({ by: 'second', attempt: 2 });
    expect(order).toEqual(['admit', 'recover 2', 'admit']);
    wake();
    expect(await stopped).toEqual(second);
  });

  test.each<[string, SealedOptions['recover']]>([
    ['does not know', () => unknown()],
    ['throws', () => Promise.reject(new Error('resource down'))],
    ['hangs', () => new Promise(() => {})],
    ['answers nonsense', () => 'done' as never],
  ])('stays pending when recover %s, and is asked for again', async (_, fail) => {
    let asked = 0;
    const recover: SealedOptions['recover'] = (context) => {
      asked += 1;
      return asked === 1 ? fail(context) : neverStarted();
    };
    const recovery = sealed({ recover, recoverTimeoutMs: 50 });
    const { ask, stopped, wake, leaseEnds } = await setup(recovery);
    leaseEnds();
    expect(said(await ask())).toEqual(PENDING);
    expect(JSON.parse((await ask()).body)).toMatchObject({ by: 'second', attempt: 3 });
    wake();
    expect(JSON.parse((await stopped).body)).toMatchObject({ by: 'second' });
  });

  test('ends as unknown where that was asked for, with a reference, for everyone', async () => {
    const { ask, stopped, wake, leaseEnds, runs } = await setup(blind({ onAbandoned: 'unknown' }));
    leaseEnds();
    const [one, other] = await Promise.all([ask(), ask()]);
    const definite = one.body === PENDING[1] ? other : one;
    expect(said(definite)).toEqual([409, '{"error":"outcome_unknown"}']);
    const [reference] = valuesOf(definite, 'Idempotency-Reference');
    expect(reference).toMatch(/^[0-9a-f]{32}$/);
    expect(await ask()).toEqual(definite);
    wake();
    expect(await stopped).toEqual(definite);
    expect(runs).toHaveLength(1);
  });

  test('is taken over and refused without losing its number', async () => {
    const admissions: (0 | 429)[] = [0, 429];
    const recovery = keyed({ rerunWithinMs: 10 * LEASE_MS });
    const { ask, stopped, wake, leaseEnds } = await setup(recovery, () => admissions.shift() ?? 0);
    leaseEnds();
    expect(said(await ask())).toEqual([429, '{"error":"not_admitted"}']);
    expect(JSON.parse((await ask()).body)).toMatchObject({ by: 'second', attempt: 3 });
    wake();
    expect(JSON.parse((await stopped).body)).toMatchObject({ by: 'second' });
  });
});

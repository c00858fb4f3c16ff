import { IdempotencyError } from '../../src/core/errors.ts';
import { blind, keyed, type Recovery, sealed, transactional } from '../../src/core/recovery.ts';
import { unknown } from '../../src/core/recovery-outcome.ts';
import { checkRecovery } from '../../src/core/recovery-support.ts';
import { MemoryStore } from '../../src/stores/memory.ts';

const ADAPTER = { dialect: 'postgres', begin: async () => ({}) } as never;

function setup() {
  const messageOf = (build: () => unknown): string => {
    try {
      build();
    } catch (error) {
      expect(error).toBeInstanceOf(IdempotencyError);
      return `${(error as IdempotencyError).code}: ${(error as Error).message}`;
    }
    throw new Error('Nothing was thrown.');
  };
  return { messageOf };
}

describe('a recovery mode, when it is built', () => {
  test.each<[string, () => Recovery, object]>([
    ['blind', () => blind(), { mode: 'blind', leaseMs: undefined, maxRunMs: 600_000 }],
    [
      'blind with an end',
      () => blind({ onAbandoned: 'unknown' }),
      { mode: 'blind', leaseMs: 60_000, maxRunMs: 600_000 },
    ],
    [
      'keyed',
      () => keyed({ rerunWithinMs: 70_000 }),
      { mode: 'keyed', rerunWithinMs: 70_000, leaseMs: 60_000, maxRunMs: 600_000 },
    ],
    [
      'sealed',
      () => sealed({ recover: () => unknown() }),
      { mode: 'sealed', recoverTimeoutMs: 5_000, leaseMs: 60_000, maxRunMs: 600_000 },
    ],
    [
      'transactional',
      () => transactional(ADAPTER),
      { mode: 'transactional', adapter: ADAPTER, leaseMs: 60_000, maxRunMs: 60_000 },
    ],
    ['transactional of a store', () => transactional(), { mode: 'transactional' }],
  ])('has its documented defaults: %s', (_, build, expected) => {
    expect(build()).toMatchObject(expected);
  });

  test.each<[string, () => Recovery, object]>([
    ['a lease', () => keyed({ rerunWithinMs: 3, leaseMs: 2, maxRunMs: 3 }), { leaseMs: 2 }],
    ['a longest run', () => keyed({ rerunWithinMs: 70_000, maxRunMs: 3 }), { maxRunMs: 3 }],
    [
      'a time for recover',
      () => sealed({ recover: () => unknown(), recoverTimeoutMs: 9 }),
      { recoverTimeoutMs: 9 },
    ],
    [
      'limits, one by one',
      () => transactional(ADAPTER, { leaseMs: 20_000, limits: { lockTimeoutMs: 1 } }),
      { limits: { statementTimeoutMs: 10_000, lockTimeoutMs: 1, idleTimeoutMs: 10_000 } },
    ],
  ])('takes %s', (_, build, expected) => {
    expect(build()).toMatchObject(expected);
  });

  test.each<[string, () => unknown, string | RegExp]>([
    [
      'blind(null)',
      () => blind(null as never),
      'blind(…) to be given an object of options, got null',
    ],
    [
      'blind("unknown")',
      () => blind('unknown' as never),
      'blind(…) to be given an object of options, got a string',
    ],
    ['keyed()', () => keyed(undefined as never), 'keyed(…) to be given an object of options'],
    ['sealed()', () => sealed(undefined as never), 'sealed(…) to be given an object of options'],
    [
      'an unknown option of blind',
      () => blind({ rerunWithinMs: 1 } as never),
      'of blind(…), got `rerunWithinMs`. Known are onAbandoned.',
    ],
    [
      'an unknown option of keyed',
      () => keyed({ rerunWithinMs: 1, recover: () => 1 } as never),
      'of keyed(…), got `recover`. Known are leaseMs, maxRunMs, rerunWithinMs.',
    ],
    [
      'an unknown option of sealed',
      () => sealed({ recover: () => unknown(), onAbandoned: 'unknown' } as never),
      'of sealed(…), got `onAbandoned`',
    ],
    [
      'an unknown option of transactional',
      () => transactional(ADAPTER, { maxRunMs: 1 } as never),
      'of transactional(…), got `maxRunMs`. Known are leaseMs, limits.',
    ],
    [
      'an unknown limit',
      () => transactional(ADAPTER, { limits: { queryTimeoutMs: 1 } as never }),
      'of the limits of transactional(…), got `queryTimeoutMs`. Known are statementTimeoutMs',
    ],
    [
      'a choice that is none',
      () => blind({ onAbandoned: 'release' as never }),
      "`onAbandoned` of blind(…) to be 'pending' or 'unknown', got \"release\"",
    ],
    [
      'a window that is left out',
      () => keyed({} as never),
      /`rerunWithinMs` of keyed\(…\) to be a whole number .* from 1 to 2147483647, got undefined/,
    ],
    [
      'a window that is over before the lease is',
      () => keyed({ rerunWithinMs: 60_000 }),
      '`rerunWithinMs` of keyed(…) to be longer than leaseMs, which is 60000, got 60000',
    ],
    [
      'a lease of a key that nobody takes over',
      () => blind({ leaseMs: 1 } as never),
      'of blind(…), got `leaseMs`. Known are onAbandoned.',
    ],
    ['a window of nothing', () => keyed({ rerunWithinMs: 0 }), 'from 1 to 2147483647, got 0'],
    [
      'half a lease',
      () => keyed({ rerunWithinMs: 1, leaseMs: 0.5 }),
      '`leaseMs` of keyed(…) to be a whole',
    ],
    [
      'a longest run beyond timers',
      () => keyed({ rerunWithinMs: 1, maxRunMs: 2 ** 31 }),
      '`maxRunMs` of keyed(…) to be a whole',
    ],
    [
      'no recover',
      () => sealed({} as never),
      '`recover` of sealed(…) to be a function, got undefined',
    ],
    [
      'a time for recover that is none',
      () => sealed({ recover: () => unknown(), recoverTimeoutMs: Number.NaN }),
      /`recoverTimeoutMs` of sealed\(…\) to be a whole number .* from 1 to 2147483647, got NaN/,
    ],
    [
      'a pool in place of an adapter',
      () => transactional({ query: 1 } as never),
      'given a transaction adapter, such as pgTransactions(pool), got object',
    ],
    ['null in place of an adapter', () => transactional(null as never), 'a transaction adapter'],
    [
      'a limit as long as the lease',
      () => transactional(ADAPTER, { leaseMs: 10_000 }),
      /`statementTimeoutMs` of the limits .* to be shorter than leaseMs, which is 10000, got 10000/,
    ],
    [
      'a limit of nothing',
      () => transactional(ADAPTER, { limits: { idleTimeoutMs: 0 } }),
      '`idleTimeoutMs` of the limits of transactional(…) to be a whole number',
    ],
    [
      'limits that are none',
      () => transactional(ADAPTER, { limits: 5 as never }),
      '`limits` of transactional(…) to be an object, got 5',
    ],
  ])('refuses %s', (_, build, sentence) => {
    const message = setup().messageOf(build);
    expect(message).toMatch(/^option_invalid: Expected .* See docs\/recovery\.md\.$/);
    expect(message).toEqual(
      typeof sentence === 'string'
        ? expect.stringContaining(sentence)
        : expect.stringMatching(sentence),
    );
  });

  test('refuses an answer for abandoned keys that HTTP cannot carry, before there is one', () => {
    const { messageOf } = setup();
    const response = { status: 99 };
    const message = messageOf(() => blind({ onAbandoned: 'unknown', response }));
    expect(message).toContain('response_invalid');
    const made = messageOf(() => blind({ onAbandoned: 'unknown', response: () => response }));
    expect(made).toContain('response_invalid');
  });

  test('hands out the transaction of a request, or nothing outside of the middleware', () => {
    const mode = transactional<string>(ADAPTER);
    expect(mode.tx({ idempotency: { tx: 'open' } })).toBe('open');
    expect(mode.tx({})).toBeUndefined();
  });
});

describe('a store that is to serve a mode', () => {
  const VERBS = { claim: 1, complete: 1, release: 1 };
  const storeWith = (...names: string[]) =>
    Object.fromEntries([
      ...Object.keys(VERBS).map((name) => [name, () => {}]),
      ...names.map((name) => [name, () => {}]),
    ]) as never;
  const MODES = {
    'blind with an end': blind({ onAbandoned: 'unknown' }),
    keyed: keyed({ rerunWithinMs: 70_000 }),
    sealed: sealed({ recover: () => unknown() }),
    transactional: transactional(),
  };

  test.each<[keyof typeof MODES, string[], string]>([
    ['blind with an end', [], 'takeOver, renew'],
    ['keyed', ['takeOver'], 'renew'],
    ['sealed', ['renew'], 'takeOver'],
    ['transactional', ['takeOver'], 'inspect, commitSync'],
  ])('and cannot is refused, with what it lacks: %s', (name, offered, missing) => {
    const message = setup().messageOf(() => checkRecovery(MODES[name], storeWith(...offered)));
    expect(message).toBe(
      `recovery_unsupported: Expected a store with ${missing} for recovery: ` +
        `${MODES[name].mode}(…), got Object without. Take another store, or blind().`,
    );
  });

  test('and can is taken', () => {
    const offered = storeWith('takeOver', 'renew', 'inspect', 'commitSync');
    for (const mode of Object.values(MODES)) {
      expect(() => checkRecovery(mode, offered)).not.toThrow();
    }
    expect(() => checkRecovery(blind(), storeWith())).not.toThrow();
  });

  test('and has no transactions of its own takes no transactional() without an adapter', () => {
    const message = setup().messageOf(() => checkRecovery(transactional(), new MemoryStore()));
    expect(message).toContain('Expected a store with commitSync');
    expect(message).toContain('got MemoryStore without');
  });

  test('and completes in no transaction takes no adapter', () => {
    const offered = storeWith('takeOver', 'renew', 'inspect', 'commitSync');
    const message = setup().messageOf(() => checkRecovery(transactional(ADAPTER), offered));
    expect(message).toContain(
      'Expected transactional() without an adapter for Object, whose handlers write in commitSync',
    );
  });

  test('and completes in transactions of others only asks for their adapter', () => {
    const offered = storeWith('takeOver', 'renew', 'inspect', 'completeIn');
    const message = setup().messageOf(() => checkRecovery(transactional(), offered));
    expect(message).toContain(
      'Expected a transaction adapter for Object, such as transactional(pg',
    );
  });

  test('and can do neither takes no adapter', () => {
    const offered = storeWith('takeOver', 'renew', 'inspect');
    const message = setup().messageOf(() => checkRecovery(transactional(ADAPTER), offered));
    expect(message).toContain('Expected a store with completeIn');
  });

  test('takes an adapter of its own database, and no other', () => {
    const offered = storeWith('takeOver', 'inspect', 'completeIn') as object;
    const postgres = { ...offered, dialect: 'postgres' } as never;
    const mysql = { ...offered, dialect: 'mysql' } as never;
    expect(() => checkRecovery(transactional(ADAPTER), postgres)).not.toThrow();
    const { messageOf } = setup();
    const message = messageOf(() => checkRecovery(transactional(ADAPTER), mysql));
    expect(message).toContain('recovery_unsupported: Expected an adapter for the database of');
    expect(message).toContain('got one for postgres');
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a word', 'keyed'],
    ['a function', keyed],
    ['an unknown mode', { mode: 'optimistic' }],
    ['a name that every object has', { mode: 'toString' }],
  ])('is given no mode that is none: %s', (_, recovery) => {
    const message = setup().messageOf(() => checkRecovery(recovery as never, new MemoryStore()));
    expect(message).toContain(
      'option_invalid: Expected the option `recovery` of idempotent(…) to be',
    );
  });
});

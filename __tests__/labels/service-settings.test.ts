import { readServiceSettings } from '../../src/labels/service-settings.ts';

function setup(env: NodeJS.ProcessEnv) {
  return () => readServiceSettings(env);
}

const POSTGRES_URL = 'postgres://someone:secret@127.0.0.1/labels';

test('all settings have a default, also when their variables are empty', () => {
  const settings = {
    port: 3000,
    store: { kind: 'sqlite', path: './data/labels.db' },
    mode: { kind: 'transactional', leaseMs: 60_000 },
  };
  expect(setup({})()).toEqual(settings);
  expect(setup({ PORT: '', LABELS_DB: '', STORE: '', MODE: '', LEASE_MS: '' })()).toEqual(settings);
});

test('port, file and lease are what the environment says', () => {
  const env = { PORT: '0', LABELS_DB: '/var/lib/labels.db', LEASE_MS: '100' };
  const settings = setup(env)();
  expect(settings).toEqual({
    port: 0,
    store: { kind: 'sqlite', path: '/var/lib/labels.db' },
    mode: { kind: 'transactional', leaseMs: 100 },
  });
  expect(setup({ PORT: '65535' })().port).toBe(65_535);
});

test.each(['http', '-1', '65536', '80.5', '0x50', ' 80', '8e1', '99999', '１２'])(
  'PORT=%j is an error that says what was expected and what came',
  (port) => {
    expect(setup({ PORT: port })).toThrow(
      `Expected PORT to be a whole number from 0 to 65535, got "${port}".`,
    );
  },
);

test.each(['99', '1e3', '-500', '0.5', '100000000', '000'])('LEASE_MS=%j is an error', (lease) => {
  expect(setup({ LEASE_MS: lease })).toThrow(
    `Expected LEASE_MS to be a whole number from 100 to 99999999, got "${lease}".`,
  );
});

describe('the store', () => {
  test.each([
    ['postgres', POSTGRES_URL],
    ['postgres', 'postgresql://127.0.0.1/labels'],
    ['mysql', 'mysql://root@127.0.0.1/labels'],
    ['mysql', 'mariadb://root@127.0.0.1/labels'],
  ] as const)('%s is at DATABASE_URL=%s', (kind, url) => {
    expect(setup({ STORE: kind, DATABASE_URL: url })().store).toEqual({ kind, url });
  });

  test('redis is at REDIS_URL, and the labels are in a file', () => {
    expect(setup({ STORE: 'redis', REDIS_URL: 'rediss://127.0.0.1' })().store).toEqual({
      kind: 'redis',
      url: 'rediss://127.0.0.1',
      path: './data/labels.db',
    });
  });

  test('of another name is an error', () => {
    expect(setup({ STORE: 'oracle' })).toThrow(
      'Expected STORE to be sqlite, postgres, mysql or redis, got "oracle". ' +
        'Set it to one of them, or leave it out: then it is sqlite.',
    );
  });

  test.each([
    ['postgres', 'DATABASE_URL', 'postgres://user@127.0.0.1:5432/labels'],
    ['mysql', 'DATABASE_URL', 'mysql://user@127.0.0.1:3306/labels'],
    ['redis', 'REDIS_URL', 'redis://127.0.0.1:6379'],
  ])('%s without %s is an error that shows one', (kind, name, example) => {
    expect(setup({ STORE: kind })).toThrow(
      `Expected ${name} with STORE=${kind}, such as ${example}, got none. Set it.`,
    );
  });

  test.each(['mysql://root:secret@127.0.0.1/labels', 'postgres://secret@[', 'secret'])(
    'with a URL of another kind is an error that does not repeat it: %s',
    (url) => {
      const read = setup({ STORE: 'postgres', DATABASE_URL: url });
      expect(read).toThrow(/^Expected DATABASE_URL with STORE=postgres, .* got something else\./);
      expect(read).not.toThrow(/secret/);
    },
  );
});

describe('the mode', () => {
  const REDIS = { STORE: 'redis', REDIS_URL: 'redis://127.0.0.1' };

  test('is transactional where the store can be, and else blind', () => {
    expect(setup({ STORE: 'postgres', DATABASE_URL: POSTGRES_URL })().mode.kind).toBe(
      'transactional',
    );
    expect(setup(REDIS)().mode).toEqual({ kind: 'blind' });
  });

  test.each(['keyed', 'sealed'])('%s has a carrier, by default that of npm run carrier', (mode) => {
    const preset = { kind: mode, leaseMs: 60_000, carrierUrl: 'http://127.0.0.1:3001' };
    expect(setup({ MODE: mode })().mode).toEqual(preset);
    const carrierUrl = 'http://127.0.0.1:4711/carrier';
    expect(setup({ ...REDIS, MODE: mode, CARRIER_URL: carrierUrl })().mode).toEqual({
      ...preset,
      carrierUrl,
    });
  });

  test('of another name is an error', () => {
    expect(setup({ MODE: 'optimistic' })).toThrow(
      'Expected MODE to be blind, transactional, keyed or sealed, got "optimistic".',
    );
  });

  test('transactional with Redis is an error', () => {
    expect(setup({ ...REDIS, MODE: 'transactional' })).toThrow(
      'Expected MODE to be blind, keyed or sealed with STORE=redis, got transactional.',
    );
  });

  test('with a carrier that is not reached by http is an error', () => {
    expect(setup({ MODE: 'keyed', CARRIER_URL: '127.0.0.1:3001' })).toThrow(
      'Expected CARRIER_URL with MODE=keyed, such as http://127.0.0.1:3001, got something else.',
    );
  });
});

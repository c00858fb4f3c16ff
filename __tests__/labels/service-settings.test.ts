import { readServiceSettings } from '../../src/labels/service-settings.ts';

function setup(env: NodeJS.ProcessEnv) {
  return () => readServiceSettings(env);
}

test('port and file have a default, also when their variables are empty', () => {
  const settings = { port: 3000, databasePath: './data/labels.db' };
  expect(setup({})()).toEqual(settings);
  expect(setup({ PORT: '', LABELS_DB: '' })()).toEqual(settings);
});

test('port and file are what the environment says', () => {
  const settings = setup({ PORT: '0', LABELS_DB: '/var/lib/labels.db' })();
  expect(settings).toEqual({ port: 0, databasePath: '/var/lib/labels.db' });
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

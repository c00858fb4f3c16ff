import { parseStoreAddress, withoutSecrets } from '../../src/operator/store-address.ts';

const setup = (url: string) => parseStoreAddress(url, {});

test.each([
  'postgres://operator:s3cret@host:5432/labels',
  'postgres://operator:s3cr%65t@host/labels',
  'mysql://operator:s3cret@host/labels',
  'redis://:s3cret@host',
  'rediss://s3cret@host/0',
  'postgres://host/labels?user=operator&password=s3cret&sslkey=s3cret',
])('of %s no message shows the secret, whoever says it', (url) => {
  const address = setup(url);
  const [, userinfo = ''] = /\/\/(?:([^/]*)@)?/.exec(url) ?? [];
  for (const secret of ['s3cret', userinfo, url].filter((each) => each !== '')) {
    const message = withoutSecrets(`connect failed: ${secret} at host:5432`, address);
    expect(message).toContain('connect failed: ');
    expect(message).toContain('***');
    expect(message).not.toMatch(/s3cret|s3cr%65t/);
  }
});

test('what is no secret is not touched', () => {
  const path = setup('sqlite:./data/labels.db');
  expect(withoutSecrets('There is no file ./data/labels.db.', path)).toContain('./data/labels.db');
  const open = setup('redis://host:6379/0');
  expect(withoutSecrets('connect ECONNREFUSED host:6379', open)).toContain('host:6379');
});

test.each([
  ['sqlite:./data/labels.db', 'sqlite', './data/labels.db'],
  ['sqlite:///data/labels.db', 'sqlite', '/data/labels.db'],
  ['module:./store.mjs', 'module', './store.mjs'],
  ['postgresql://host/x', 'postgres', 'postgresql://host/x'],
  ['mariadb://host/x', 'mysql', 'mariadb://host/x'],
  ['rediss://host', 'redis', 'rediss://host'],
])('%s is a store on %s', (text, backend, target) => {
  expect(setup(text)).toEqual({ backend, target });
});

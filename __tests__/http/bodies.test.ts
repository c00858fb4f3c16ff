import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import multer from 'multer';
import { type IdempotencyOptions, idempotent, MemoryStore } from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { type Asking, type Served, serve } from './served.ts';

describe.each(EXPRESS_VERSIONS)('the default fingerprint under %s', (_, express) => {
  const served: Served[] = [];
  afterEach(async () => {
    for (const each of served.splice(0)) await each[Symbol.asyncDispose]();
  });

  async function setup(
    parsers: readonly RequestHandler[] = [express.json()],
    options: IdempotencyOptions = {},
  ) {
    const store = new FaultyStore(new MemoryStore());
    const app = express();
    app.set('env', 'test');
    app.use([...parsers, idempotent(store, options)]);
    app.use((_req, res) => {
      res.status(201).end();
    });
    const server = await serve(app);
    served.push(server);
    /** Whether the second request is taken for a retry of the first. */
    const isRetry = async (first: Asking, second: Asking): Promise<boolean> => {
      const answered = [
        await server.ask({ key: 'k', ...first }),
        await server.ask({ key: 'k', ...second }),
      ];
      expect(answered[0]?.status).toBe(201);
      if (answered[1]?.status === 201) return true;
      expect(answered[1]?.body).toBe('{"error":"idempotency_conflict"}');
      return false;
    };
    return { ask: server.ask, isRetry, store };
  }

  const form = (boundary: string, label: string, file: string): Asking => ({
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: [
      `--${boundary}`,
      'Content-Disposition: form-data; name="label"',
      '',
      label,
      `--${boundary}`,
      'Content-Disposition: form-data; name="file"; filename="a.txt"',
      'Content-Type: text/plain',
      '',
      file,
      `--${boundary}--`,
      '',
    ].join('\r\n'),
  });

  test.each<[string, Asking, Asking]>([
    [
      'the order of members and white space',
      { body: '{"a":1,"b":2}' },
      { body: '{ "b" : 2,\n"a":1 }' },
    ],
    ['1 and 1.0', { body: '{"a":1}' }, { body: '{"a":1.0}' }],
    ['the way a letter is escaped', { body: '{"a":"é"}' }, { body: '{"a":"\\u00e9"}' }],
    [
      'parameters of the media type',
      { body: '{}' },
      { body: '{}', headers: { 'Content-Type': 'Application/JSON; charset=utf-8' } },
    ],
    [
      'the operation header Accept',
      { body: '{}' },
      { body: '{}', headers: { Accept: 'text/html' } },
    ],
    [
      'integers beyond 2^53, which the parser merges',
      { body: '[9007199254740993]' },
      { body: '[9007199254740992]' },
    ],
    [
      'members of one name, of which the parser keeps the last',
      { body: '{"a":1,"a":2}' },
      { body: '{"a":2}' },
    ],
  ])('does not see %s', async (_, first, second) => {
    const { isRetry } = await setup();
    expect(await isRetry(first, second)).toBe(true);
  });

  test.each<[string, Asking, Asking]>([
    ['another value', { body: '{"a":1}' }, { body: '{"a":2}' }],
    ['a text for a number', { body: '{"a":1}' }, { body: '{"a":"1"}' }],
    ['the order of a list', { body: '[1,2]' }, { body: '[2,1]' }],
    ['null for nothing', { body: '{"a":null}' }, { body: '{}' }],
    ['__proto__ as a member', { body: '{"__proto__":1}' }, { body: '{}' }],
    ['the query', { path: '/a?x=1', body: '{}' }, { path: '/a?x=2', body: '{}' }],
    ['no body for an empty object', { body: '{}' }, {}],
  ])('sees %s', async (_, first, second) => {
    const { isRetry } = await setup();
    expect(await isRetry(first, second)).toBe(false);
  });

  test('sees the path where the operation does not', async () => {
    const { isRetry } = await setup([express.json()], { operation: 'all' });
    expect(await isRetry({ path: '/a', body: '{}' }, { path: '/b', body: '{}' })).toBe(false);
    const other = await setup([express.json()], { operation: 'all' });
    expect(await other.isRetry({ method: 'PUT', body: '{}' }, { method: 'POST', body: '{}' })).toBe(
      false,
    );
  });

  test('sees the bytes where req.rawBody keeps them', async () => {
    const verify = (req: object, _res: unknown, bytes: Buffer) =>
      Object.assign(req, { rawBody: bytes });
    const parsers = [express.json({ verify })];
    const first = await setup(parsers);
    expect(
      await first.isRetry({ body: '[9007199254740993]' }, { body: '[9007199254740992]' }),
    ).toBe(false);
    const second = await setup(parsers);
    expect(await second.isRetry({ body: '{"a":1}' }, { body: '{"a": 1}' })).toBe(false);
    const third = await setup(parsers);
    expect(await third.isRetry({ body: '{"a":1}' }, { body: '{"a":1}' })).toBe(true);
  });

  test.each<[string, readonly RequestHandler[], string]>([
    ['text', [express.text()], 'text/plain'],
    ['bytes', [express.raw()], 'application/octet-stream'],
    ['a form', [express.urlencoded({ extended: true })], 'application/x-www-form-urlencoded'],
  ])('reads %s', async (_, parsers, type) => {
    const { isRetry } = await setup(parsers);
    const headers = { 'Content-Type': type };
    expect(await isRetry({ body: 'a=1', headers }, { body: 'a=1', headers })).toBe(true);
    const other = await setup(parsers);
    expect(await other.isRetry({ body: 'a=1', headers }, { body: 'a=2', headers })).toBe(false);
  });

  test('sees the media type', async () => {
    const { isRetry } = await setup([express.raw({ type: '*/*' })]);
    const as = (type: string) => ({ body: '{}', headers: { 'Content-Type': type } });
    expect(await isRetry(as('a/a'), as('a/b'))).toBe(false);
  });

  const disk = { destination: join(tmpdir()), filename: undefined };
  test.each<[string, () => RequestHandler]>([
    ['in memory', () => multer({ storage: multer.memoryStorage() }).single('file')],
    ['on disk', () => multer({ dest: disk.destination }).single('file')],
    ['in a list', () => multer().array('file')],
    ['by field', () => multer().fields([{ name: 'file' }])],
    ['of any field', () => multer().any()],
  ])('sees uploaded files %s, and not the boundary of the form', async (_, parser) => {
    const same = await setup([parser()]);
    expect(await same.isRetry(form('one', 'l', 'f'), form('two', 'l', 'f'))).toBe(true);
    const otherField = await setup([parser()]);
    expect(await otherField.isRetry(form('one', 'l', 'f'), form('one', 'x', 'f'))).toBe(false);
    const otherFile = await setup([parser()]);
    expect(await otherFile.isRetry(form('one', 'l', 'f'), form('one', 'l', 'g'))).toBe(false);
  });

  test('refuses files that are neither in memory nor on disk', async () => {
    const remote: RequestHandler = (req, _res, next) => {
      Object.assign(req, { files: [{ fieldname: 'file', location: 'elsewhere' }] });
      next();
    };
    const { ask, store } = await setup([remote]);
    const answered = await ask({ key: 'k' });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain('`buffer` or a `path`');
    expect(store.history.methods).toEqual([]);
  });

  test.each<[string, readonly RequestHandler[], Asking]>([
    ['nothing has read', [], { body: '{"a":1}' }],
    [
      'is of a type that no parser took',
      [express.json()],
      { body: 'a', headers: { 'Content-Type': 'text/plain' } },
    ],
    ['comes in chunks that nothing has read', [], { headers: { 'Transfer-Encoding': 'chunked' } }],
  ])('refuses a body that %s, and says how to mend it', async (_, parsers, asking) => {
    const { ask, store } = await setup(parsers);
    const answered = await ask({ key: 'k', ...asking });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain('Mount express.json()');
    expect(store.history.methods).toEqual([]);
  });

  test('refuses a body that was read and is kept nowhere', async () => {
    const swallow: RequestHandler = (req, _res, next) => {
      req.resume().on('end', () => next());
    };
    const { ask } = await setup([swallow]);
    const answered = await ask({ key: 'k', body: '{}' });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain('Keep it in req.rawBody as a Buffer');
  });

  test('is not asked of a body where `fingerprint` is given', async () => {
    const { ask } = await setup([], { fingerprint: (req) => req.get('digest') as string });
    const headers = { Digest: 'd' };
    expect((await ask({ key: 'k', body: 'a', headers })).status).toBe(201);
    expect((await ask({ key: 'k', body: 'b', headers })).status).toBe(201);
    expect((await ask({ key: 'k', body: 'b', headers: { Digest: 'e' } })).status).toBe(409);
  });

  test('is equal for requests without a body, with a parser and without', async () => {
    const { isRetry } = await setup();
    expect(await isRetry({}, { headers: { 'Content-Length': '0' } })).toBe(true);
    expect(await isRetry({}, { headers: { 'Content-Length': '00' } })).toBe(true);
    const bare = await setup([]);
    expect(await bare.isRetry({}, {})).toBe(true);
  });

  test('sees what another layer has put in the place of a body', async () => {
    const preset: RequestHandler = (req, _res, next) => {
      req.body = { a: req.get('x-a') };
      next();
    };
    const { isRetry } = await setup([preset]);
    expect(await isRetry({ headers: { 'X-A': '1' } }, { headers: { 'X-A': '2' } })).toBe(false);
  });

  test('does not crash on 40,000 nested lists', async () => {
    const { isRetry } = await setup([express.json({ limit: '1mb', strict: false })]);
    const body = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    expect(await isRetry({ body }, { body })).toBe(true);
  });
});

import type { RequestHandler } from 'express';
import { closeServed, countedHandler } from './counted-handler.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { gate, until } from './gate.ts';
import { HeldApp } from './held-app.ts';
import { valuesOf, withoutDate } from './served.ts';

describe.each(EXPRESS_VERSIONS)('an odd answer, through %s', (_, framework) => {
  afterEach(closeServed);

  const setup = (handler: RequestHandler, options = {}) =>
    countedHandler(framework, options, handler);

  test.each<[string, string, string[]]>([
    ['an empty line before another', 'X-List', ['', 'b']],
    ['two media types', 'Content-Type', ['text/plain', 'text/html']],
  ])('with %s is replayed line by line', async (_, name, values) => {
    const { ask } = await setup((_req, res) => {
      res.setHeader(name, values);
      res.end('made');
    });
    const first = withoutDate(await ask({ key: 'k' }));
    expect(valuesOf(first, name)).toEqual(values);
    expect(withoutDate(await ask({ key: 'k' }))).toEqual(first);
  });

  test('that is too large and destroyed while that is being saved is not kept, and not run again', async () => {
    const { ask, runs } = await setup(
      (_req, res) => {
        res.status(201).write('x'.repeat(20));
        res.destroy();
      },
      { maxResponseBytes: 10 },
    );
    await expect(ask({ key: 'k' })).rejects.toThrow();
    const retried = await ask({ key: 'k' });
    expect([retried.status, retried.body]).toEqual([409, '{"error":"response_not_kept"}']);
    expect(runs).toHaveLength(1);
  });

  test.each<[string, object]>([
    ['at once', { operation: () => 'make a label' }],
    ['later', { operation: async () => 'make a label' }],
    ['and another the fingerprint', { operation: () => 'make a label', fingerprint: () => 'f' }],
  ])('is kept under the operation that a function names %s', async (_, options) => {
    const { ask, runs } = await setup((_req, res) => void res.end('made'), options);
    await ask({ key: 'k' });
    await ask({ key: 'k' });
    expect(runs.map((attempt) => attempt?.operation)).toEqual(['make a label']);
  });

  test.each<[string, unknown, string]>([
    ['null', null, 'got null'],
    ['nothing', '', 'got an empty string'],
    ['a number', 7, 'got number'],
  ])('is none where a function names the operation %s', async (_, name, got) => {
    const { ask, runs } = await setup(() => {}, { operation: () => name });
    const answered = await ask({ key: 'k' });
    expect(answered.status).toBe(500);
    expect(answered.body).toContain(got);
    expect(runs).toEqual([]);
  });
});

test('a pipelined answer that is destroyed before its turn is not saved, and is reported', async () => {
  const first = gate();
  await using app = await new HeldApp({
    handler: (req, res) => {
      if (req.path === '/1') {
        void first.opened.then(() => res.send('first'));
        return;
      }
      res.write('a part');
      res.destroy();
    },
  }).listen();
  const wire = app.ask({ path: '/1' }, { path: '/2' });
  await until(() => app.reports.length > 0);
  expect([app.reports, app.saved]).toEqual([['destroyed'], []]);
  first.open();
  await app.saves(1);
  app.settle();
  expect((await wire.answer()).body.toString()).toBe('first');
  expect(app.saved).toHaveLength(1);
}, 60_000);

import express from 'express';
import request from 'supertest';
import { MemoryStore } from '../../src/index.ts';
import { type Label, labelsApp, labelsRouter } from '../../src/labels/index.ts';

const OPERATION = { request_id: 'label-req-7', parcel_id: 'parcel-42' };
const LABEL: Label = { label_id: 'label-901', ...OPERATION };

function setup(options: Partial<Parameters<typeof labelsApp>[0]> = {}) {
  const errors: unknown[] = [];
  const app = labelsApp({
    store: new MemoryStore(),
    createLabel: () => LABEL,
    findLabel: async (label_id) => (label_id === 'label-901' ? LABEL : undefined),
    report: (error) => errors.push(error),
    ...options,
  });
  return { app, errors, post: () => post(app) };
}

function post(app: express.Express, path = '/labels') {
  return request(app).post(path).set('Idempotency-Key', 'label-req-7').send(OPERATION);
}

/** Header lines with their values, as they came: superagent folds what is repeated. */
function etagsOf(response: request.Response): string[] {
  const raw: string[] = (response as unknown as { res: { rawHeaders: string[] } }).res.rawHeaders;
  return raw.filter((_, index) => raw[index - 1]?.toLowerCase() === 'etag');
}

describe('GET /labels/:label_id', () => {
  test('shows the label, with both ETag values', async () => {
    const { app } = setup();
    const response = await request(app).get('/labels/label-901');
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json');
    expect(etagsOf(response)).toEqual(['"label-901-v1"', '"backup"']);
    expect(response.text).toBe(
      '{"request_id":"label-req-7","parcel_id":"parcel-42","state":"created",' +
        '"label_id":"label-901"}',
    );
  });

  test('is where Location points', async () => {
    const { app, post } = setup();
    const created = await post();
    expect(created.status).toBe(201);
    expect((await request(app).get(String(created.headers['location']))).status).toBe(200);
  });

  test.each([
    '/labels/label-902',
    '/labels/',
    '/labels/label-901/',
    '/Labels/label-901',
    '/labels/label-901/x',
    '/labels/..%2Flabel-901',
    '/labels/%',
    '/labels/%00',
  ])('answers not found for %s', async (path) => {
    const { app, errors } = setup();
    const response = await request(app).get(path);
    expect(response.status).toBe(404);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.text).toBe('{"error":"not_found"}');
    expect(errors).toEqual([]);
  });
});

describe('an error', () => {
  const SECRET = 'password=hunter2';
  const failures: [what: string, options: Partial<Parameters<typeof labelsApp>[0]>][] = [
    ['of createLabel', { createLabel: () => Promise.reject(new Error(SECRET)) }],
    [
      'that createLabel throws',
      {
        createLabel() {
          throw new Error(SECRET);
        },
      },
    ],
    ['that is no Error', { createLabel: () => Promise.reject(SECRET) }],
    ['of admit', { admit: () => Promise.reject(new Error(SECRET)) }],
    ['of the tenant', { tenant: () => Promise.reject(new Error(SECRET)) }],
    [
      'of a label that makes no header line',
      { createLabel: () => ({ ...LABEL, label_id: `label-901\r\nX-Evil: ${SECRET}` }) },
    ],
  ];

  test.each(failures)('%s is reported, and tells the client nothing', async (_what, options) => {
    const { post, errors } = setup(options);
    const response = await post();
    expect(response.status).toBe(500);
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.text).toBe('{"error":"internal_error"}');
    expect(JSON.stringify(response.headers)).not.toContain('hunter2');
    expect(errors).toHaveLength(1);
  });

  test('of findLabel is reported, and tells the client nothing', async () => {
    const { app, errors } = setup({ findLabel: () => Promise.reject(new Error(SECRET)) });
    const response = await request(app).get('/labels/label-901');
    expect(response.status).toBe(500);
    expect(response.text).toBe('{"error":"internal_error"}');
    expect(errors).toHaveLength(1);
  });
});

describe('the router', () => {
  test('names the label under the path where it is mounted', async () => {
    const { store, createLabel } = { store: new MemoryStore(), createLabel: () => LABEL };
    const app = express().use('/v1', labelsRouter({ store, createLabel }));
    const response = await post(app, '/v1/labels');
    expect(response.status).toBe(201);
    expect(response.headers['location']).toBe('/v1/labels/label-901');
  });

  test('keeps the labels of two tenants apart', async () => {
    let count = 900;
    const app = express().use(
      labelsRouter({
        store: new MemoryStore(),
        tenant: (req) => String(req.headers['x-tenant']),
        createLabel: (operation) => {
          count += 1;
          return { label_id: `label-${count}`, ...operation };
        },
      }),
    );
    const ask = (tenant: string) => post(app).set('X-Tenant', tenant);
    expect((await ask('a')).body.label_id).toBe('label-901');
    expect((await ask('b')).body.label_id).toBe('label-902');
    expect((await ask('a')).body.label_id).toBe('label-901');
  });

  test.each([255, 256, 4_000])('takes a request id of %i characters', async (length) => {
    const { app } = setup();
    const request_id = 'r'.repeat(length);
    const response = await request(app)
      .post('/labels')
      .set('Idempotency-Key', request_id)
      .send({ request_id, parcel_id: 'parcel-42' });
    expect(response.status).toBe(201);
    expect(response.text).toContain('"state":"created"');
  });

  test('behind a body parser fails, and says where to mount it', async () => {
    const errors: Error[] = [];
    const app = express().use(
      express.json(),
      labelsRouter({ store: new MemoryStore(), createLabel: () => LABEL }),
      (error: Error, _req: unknown, res: express.Response, _next: unknown) => {
        errors.push(error);
        res.sendStatus(500);
      },
    );
    expect((await post(app)).status).toBe(500);
    expect(errors[0]?.message).toContain('Mount the labels router before express.json()');
  });

  test.each([undefined, null, 0, 'route', 'router'])(
    'takes %p that createLabel throws for an error, which leaves the key pending',
    async (thrown) => {
      const createLabel = () => {
        throw thrown;
      };
      const app = express().use(labelsRouter({ store: new MemoryStore(), createLabel }));
      app.use(((_error, _req, res, _next) => res.sendStatus(500)) as express.ErrorRequestHandler);
      expect((await post(app)).status).toBe(500);
      expect((await post(app)).text).toBe('{"error":"request_pending"}');
    },
  );

  test('without createLabel is an error when it is built', () => {
    const build = () => labelsRouter({ store: new MemoryStore() } as never);
    expect(build).toThrow('Expected createLabel to be a function, got undefined.');
  });
});

test('says nothing of what it is made with', async () => {
  const { app, post } = setup();
  expect((await post()).headers).not.toHaveProperty('x-powered-by');
  expect((await request(app).get('/other')).headers).not.toHaveProperty('x-powered-by');
});

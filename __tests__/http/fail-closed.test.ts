import type { ErrorRequestHandler, Response } from 'express';
import { type IdempotencyOptions, idempotent, MemoryStore } from '../../src/index.ts';
import { BODY, closeServed, countedHandler } from './counted-handler.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { serve } from './served.ts';

/** What Express takes for "go on". */
const NOT_ERRORS = [undefined, null, 0, '', false, 'route', 'router'];

type Thrower = (thrown: unknown) => IdempotencyOptions;

const THROWERS: Record<string, Thrower> = {
  'admit that throws': (thrown) => ({ admit: () => raise(thrown) }),
  'admit that rejects': (thrown) => ({ admit: () => Promise.reject(thrown) }),
  'a fingerprint that rejects': (thrown) => ({ fingerprint: () => Promise.reject(thrown) }),
  'a key that throws': (thrown) => ({ key: () => raise(thrown) }),
  'an operation that rejects': (thrown) => ({ operation: () => Promise.reject(thrown) }),
  'a tenant that rejects': (thrown) => ({ tenant: () => Promise.reject(thrown) }),
};

function raise(thrown: unknown): never {
  throw thrown;
}

describe.each(EXPRESS_VERSIONS)('nothing runs unprotected through %s', (_, express) => {
  afterEach(closeServed);

  test.each(Object.entries(THROWERS))(
    'after %s with what Express takes for no error',
    async (_what, optionsOf) => {
      for (const thrown of NOT_ERRORS) {
        const { ask, runs } = await countedHandler(express, optionsOf(thrown));
        for (let n = 0; n < 2; n += 1) {
          expect((await ask({ key: 'k-1', body: BODY })).status).toBe(500);
        }
        expect(runs).toEqual([]);
      }
    },
  );

  async function begunBefore(begin: (res: Response) => void, options: IdempotencyOptions = {}) {
    const codes: unknown[] = [];
    let runs = 0;
    const app = express();
    app.use((_req, res, next) => {
      begin(res);
      next();
    });
    app.post('/labels', express.json(), idempotent(new MemoryStore(), options), (_req, res) => {
      runs += 1;
      res.end('made');
    });
    app.use(((error, _req, res, _next) => {
      codes.push(error.code);
      res.end('ended');
    }) as ErrorRequestHandler);
    const served = await serve(app);
    const ask = async (key?: string) => {
      const { body } = await served.ask({
        path: '/labels',
        body: BODY,
        ...(key === undefined ? {} : { key }),
      });
      return { body: body.trim(), codes, runs };
    };
    return { ask, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
  }

  describe.each<[string, (res: Response) => void]>([
    ['flushed its head', (res) => res.flushHeaders()],
    ['written to it', (res) => void res.write(' ')],
  ])('where an outer layer has %s before', (_what, begin) => {
    test('and a request with a key is told so', async () => {
      await using asked = await begunBefore(begin);
      expect(await asked.ask('k-1')).toEqual({ body: 'ended', codes: ['answer_begun'], runs: 0 });
    });

    test('nor is a request without a key that needs none held up', async () => {
      await using asked = await begunBefore(begin, { required: false });
      expect(await asked.ask()).toEqual({ body: 'made', codes: [], runs: 1 });
      expect(await asked.ask('k-1')).toMatchObject({ body: 'ended', runs: 1 });
    });
  });

  test('and an answer leaves also where a layer has exchanged its request', async () => {
    const { ask } = await countedHandler(express, {}, (req, res) => {
      // A clone has no socket of its own.
      res.req = Object.create(req, { socket: { value: undefined } });
      setTimeout(() => res.status(201).end('made'), 5);
    });
    for (let n = 0; n < 2; n += 1) {
      expect((await ask({ key: 'k-1', body: BODY })).body).toBe('made');
    }
  });
});

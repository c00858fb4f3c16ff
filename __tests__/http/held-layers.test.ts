import { AsyncLocalStorage } from 'node:async_hooks';
import { gunzipSync } from 'node:zlib';
import express, { type RequestHandler, type Response } from 'express';
import onHeaders from 'on-headers';
import { idempotent, MemoryStore } from '../../src/index.ts';
import { thrownBy } from './cases/observed.ts';
import { HeldApp, type HeldAppOptions, until } from './held-app.ts';
import { serve } from './served.ts';
import { bytesOf, linesNamed, Wire, type WireAnswer } from './wire.ts';

const compression = require('compression') as () => RequestHandler;
const session = require('express-session') as (options: object) => RequestHandler;
const cors = require('cors') as (options: object) => RequestHandler;

// Build machines stand still for seconds.
jest.setTimeout(60_000);

const setup = (options: HeldAppOptions) => new HeldApp(options).listen();

const TEXT = 'a text that is worth to be compressed. '.repeat(100);

/** Two requests with one key, each on a connection of its own. */
async function twice(
  layers: { outer?: RequestHandler[]; inner?: RequestHandler[] },
  handler: RequestHandler,
  headers: readonly [first: string[], retry: string[]] = [[], []],
): Promise<[first: WireAnswer, retry: WireAnswer]> {
  const app = express();
  for (const layer of layers.outer ?? []) app.use(layer);
  app.use(idempotent(new MemoryStore(), { fingerprint: () => 'same' }));
  for (const layer of layers.inner ?? []) app.use(layer);
  app.use(handler);
  await using served = await serve(app);
  const ask = async (lines: string[]): Promise<WireAnswer> => {
    const wire = new Wire(served.port).send(bytesOf({ headers: lines }, ['Idempotency-Key: k']));
    const answer = await wire.answer();
    wire.close();
    return answer;
  };
  return [await ask(headers[0]), await ask(headers[1])];
}

describe('an outer layer', () => {
  const gzip = ['Accept-Encoding: gzip'];
  const json: RequestHandler = (_req, res) => {
    res.json({ text: TEXT });
  };

  test('compresses for a client that takes it, and not for its retry that does not', async () => {
    const [first, retry] = await twice({ outer: [compression()] }, json, [gzip, []]);
    expect(linesNamed(first, 'Content-Encoding')).toEqual(['Content-Encoding: gzip']);
    expect(linesNamed(retry, 'Content-Encoding')).toEqual([]);
    expect(retry.body.toString()).toBe(gunzipSync(first.body).toString());
  });

  test('has a cookie for each request, however the handler spells the name it adds to', async () => {
    let requests = 0;
    const outer: RequestHandler = (_req, res, next) => {
      requests += 1;
      res.setHeader('Set-Cookie', `sid=of-request-${requests}`);
      next();
    };
    for (const name of ['Set-Cookie', 'set-cookie']) {
      requests = 0;
      const [, retry] = await twice({ outer: [outer] }, (_req, res) => {
        res.append(name, 'label=901');
        res.end();
      });
      expect(linesNamed(retry, 'Set-Cookie').map((line) => line.toLowerCase())).toEqual([
        'set-cookie: sid=of-request-2',
        'set-cookie: label=901',
      ]);
    }
  });

  test('compresses for the retry alone, too', async () => {
    const [first, retry] = await twice({ outer: [compression()] }, json, [[], gzip]);
    expect(linesNamed(retry, 'Content-Encoding')).toEqual(['Content-Encoding: gzip']);
    expect(gunzipSync(retry.body).toString()).toBe(first.body.toString());
  });

  test('gives each answer its own session cookie; those of the handler are replayed', async () => {
    let made = 0;
    const genid = (): string => {
      made += 1;
      return `session-${made}`;
    };
    const outer = session({ secret: 's', genid, resave: false, saveUninitialized: true });
    const handler: RequestHandler = (_req, res) => {
      res.cookie('mine', '1').send('ok');
    };
    const cookies = (await twice({ outer: [outer] }, handler)).map((answer) =>
      linesNamed(answer, 'Set-Cookie').map((line) => line.replace(/(session-\d).*/, '$1')),
    );
    expect(cookies).toEqual([
      ['Set-Cookie: mine=1; Path=/', 'Set-Cookie: connect.sid=s%3Asession-1'],
      ['Set-Cookie: mine=1; Path=/', 'Set-Cookie: connect.sid=s%3Asession-2'],
    ]);
  });

  test('answers each origin for itself', async () => {
    const origins = ['http://one', 'http://two'];
    const [first, retry] = await twice(
      { outer: [cors({ origin: origins })] },
      (_req, res) => res.send('ok'),
      [['Origin: http://one'], ['Origin: http://two']],
    );
    const allowed = [first, retry].map((each) => linesNamed(each, 'Access-Control-Allow-Origin'));
    expect(allowed.flat().map((line) => line.slice(-3))).toEqual(['one', 'two']);
  });

  test('that sets an id for each request has its own in each answer', async () => {
    let requests = 0;
    const outer: RequestHandler = (_req, res, next) => {
      requests += 1;
      res.set('X-Request-Id', String(requests));
      next();
    };
    const [first, retry] = await twice({ outer: [outer] }, (_req, res) => res.send('ok'));
    expect(linesNamed(first, 'X-Request-Id')).toEqual(['X-Request-Id: 1']);
    expect(linesNamed(retry, 'X-Request-Id')).toEqual(['X-Request-Id: 2']);
  });

  test('is not seen in a retry where the handler had removed its header', async () => {
    const outer: RequestHandler = (_req, res, next) => {
      res.set('X-Outer', '1').set('Content-Length', '7');
      next();
    };
    const [first, retry] = await twice({ outer: [outer] }, (_req, res) => {
      res.removeHeader('X-Outer');
      res.removeHeader('X-Powered-By');
      res.removeHeader('Content-Length');
      res.end('ok');
    });
    const named = (answer: WireAnswer) => answer.lines.filter((line) => !/^Date/.test(line));
    expect(named(retry)).toEqual(named(first));
    expect(named(first).filter((line) => /^X-/.test(line))).toEqual([]);
  });

  test('may answer through an end that it has kept: nothing is saved, nothing is mixed', async () => {
    const log: string[] = [];
    const outer: RequestHandler = (_req, res, next) => {
      const end = res.end.bind(res) as (text: string) => void;
      setTimeout(() => {
        res.status(504);
        end('the outer answer');
      }, 20);
      next();
    };
    await using app = await setup({
      outer: [outer],
      handler: (_req, res) => {
        res.write('a part of the handler');
        res.on('finish', () => log.push(thrownBy(() => res.writeHead(200))));
      },
    });
    const wire = app.ask();
    const { body, isWhole } = await wire.answer();
    expect([body.toString(), isWhole, app.saved]).toEqual(['the outer answer', true, []]);
    await until(() => log.length > 0);
    expect([log, app.reports]).toEqual([['ERR_HTTP_HEADERS_SENT'], ['answered-by-outer']]);
  });

  test('that has answered before the hold is reported, and left alone', async () => {
    const outer: RequestHandler = (_req, res, next) => {
      res.send('outer');
      next();
    };
    await using app = await setup({ outer: [outer], handler: () => undefined });
    expect((await app.ask().answer()).body.toString()).toBe('outer');
    expect(app.reports).toEqual(['answered-by-outer']);
  });

  test('is not given the callback of an empty end in place of a chunk', async () => {
    const log: string[] = [];
    const outer = session({ secret: 's', resave: true, saveUninitialized: true });
    await using app = await setup({
      outer: [outer],
      handler: (_req, res) => res.status(201).end(() => log.push('ended')),
    });
    const wire = app.ask();
    await app.saves();
    app.settle();
    expect((await wire.answer()).statusLine).toBe('HTTP/1.1 201 Created');
    await until(() => log.length === 1);
  });

  test('that keeps listeners for drain to itself does not keep a large answer waiting', async () => {
    await using app = await setup({
      outer: [compression()],
      settings: { maxBytes: 10 },
      handler: (_req, res) => {
        res.type('text').on('drain', () => res.end('the end'));
        res.write('more than ten bytes, ');
      },
    });
    const wire = app.ask({ headers: gzip });
    await app.saves();
    app.settle();
    const { body } = await wire.answer();
    expect(gunzipSync(body).toString()).toBe('more than ten bytes, the end');
  });

  test('that throws when the saved answer passes it costs the connection, not more', async () => {
    const log: unknown[] = [];
    const outer: RequestHandler = (_req, res, next) => {
      onHeaders(res, () => {
        throw new Error('of the outer layer');
      });
      next();
    };
    await using app = await setup({
      outer: [outer],
      handler: (_req, res: Response) => {
        res.on('close', () => log.push('close'));
        log.push(thrownBy(() => res.json({ ok: true })));
      },
    });
    const wire = app.ask();
    await app.saves();
    app.settle();
    await until(() => wire.isClosed && log.length === 2);
    expect([log, app.reports]).toEqual([['nothing', 'close'], ['outer-threw']]);
    expect(app.saved.length).toBe(1);
  });
});

describe('an inner layer', () => {
  test('is a part of the handler: what it has compressed is replayed so', async () => {
    const [first, retry] = await twice(
      { inner: [compression()] },
      (_req, res) => res.json({ text: TEXT }),
      [['Accept-Encoding: gzip'], []],
    );
    expect(linesNamed(retry, 'Content-Encoding')).toEqual(['Content-Encoding: gzip']);
    expect(retry.body.equals(first.body)).toBe(true);
  });
});

test('an inner layer that does not pass a head on does not cost the answer its head', async () => {
  const inner: RequestHandler = (_req, res, next) => {
    res.writeHead = (() => res) as typeof res.writeHead;
    next();
  };
  const handlers: [name: string, handler: (res: Response) => unknown][] = [
    ['end', (res) => res.status(201).end('whole')],
    ['write and end', (res) => res.status(201).write('who') && res.end('le')],
  ];
  for (const [name, handler] of handlers) {
    await using app = await setup({ inner: [inner], handler: (_req, res) => handler(res) });
    const wire = app.ask();
    await app.saves();
    app.settle();
    const { statusLine, body } = await wire.answer();
    expect([name, statusLine, body.toString()]).toEqual([name, 'HTTP/1.1 201 Created', 'whole']);
  }
});

describe('an asynchronous context', () => {
  test('of the handler is that of its listeners, from wherever the store answers', async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    await using app = await setup({
      handler: (_req, res) => {
        context.run('handler', () => {
          res.on('finish', () => seen.push(context.getStore()));
          res.end('ok', () => seen.push(context.getStore()));
        });
      },
    });
    const wire = app.ask();
    await app.saves();
    context.run('store', () => app.settle());
    await wire.answer();
    await until(() => seen.length === 2);
    expect(seen).toEqual(['handler', 'handler']);
  });
});

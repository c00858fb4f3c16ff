import type { RequestHandler, Response } from 'express';
import onHeaders from 'on-headers';
import type { Case, Run, Stage } from '../bare-and-held.ts';
import type { WireAnswer } from '../wire.ts';
import { sessioned } from './compression.ts';
import { delay, inAnyOrder, thrownBy } from './observed.ts';

type Layer<Options = object> = (options?: Options) => RequestHandler;

const cors = require('cors') as Layer;
const helmet = require('helmet') as Layer;
const responseTime = require('response-time') as Layer;
const timeout = require('connect-timeout') as Layer<string>;
const morgan = require('morgan') as (format: string, options: object) => RequestHandler;

const logged = (log: Stage['log']): RequestHandler[] => [
  morgan(':method :status :res[content-length] :res[x-mine]', {
    stream: { write: (line: string) => log(line.trim()) },
  }),
];
const timed = (): RequestHandler[] => [responseTime()];

const withoutTime = (run: Run): Run => ({
  ...run,
  answers: run.answers.map(withTimeMasked),
});

function withTimeMasked(answer: WireAnswer): WireAnswer {
  const lines = answer.lines.map((line) => line.replace(/(X-Response-Time): .*/, '$1: some'));
  return { ...answer, lines };
}

/** Each layer before the middleware (outside) or after it (inside). */
export const layers: Case[] = [
  { name: 'session outside', outer: sessioned, handler: ({ res }) => res.json({ a: 1 }) },
  {
    name: 'session outside, write and end',
    outer: sessioned,
    handler: ({ res }) => {
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'session outside, changed by the handler, and a cookie of its own',
    outer: sessioned,
    handler: ({ req, res }) => {
      Object.assign((req as unknown as { session: object }).session, { user: 'u' });
      res.cookie('mine', '1').json({ a: 1 });
    },
    // Bare, the cookie of the session comes last, too: it is set when the head is written.
  },
  {
    name: 'session outside, end of nothing with a callback',
    outer: sessioned,
    handler: ({ res, log }) =>
      res
        .status(201)
        .send('')
        .on('finish', () => log('finish')),
  },
  { name: 'session inside', inner: sessioned, handler: ({ res }) => res.json({ a: 1 }) },
  {
    name: 'session inside, with a length',
    inner: sessioned,
    handler: ({ res }) => res.set('Content-Length', '4').end('four'),
  },
  {
    name: 'cors outside',
    asked: { headers: ['Origin: http://here'] },
    outer: () => [cors({ origin: 'http://here', credentials: true, exposedHeaders: 'ETag' })],
    alike: inAnyOrder,
    handler: ({ res }) => res.vary('Accept').json({ a: 1 }),
  },
  {
    name: 'cors inside',
    asked: { headers: ['Origin: http://here'] },
    inner: () => [cors({ origin: 'http://here' })],
    handler: ({ res }) => res.vary('Accept').json({ a: 1 }),
  },
  { name: 'helmet outside', outer: () => [helmet()], handler: ({ res }) => res.json({ a: 1 }) },
  { name: 'helmet inside', inner: () => [helmet()], handler: ({ res }) => res.json({ a: 1 }) },
  {
    name: 'morgan outside',
    outer: logged,
    handler: ({ res }) => res.set('X-Mine', '1').status(201).json({ a: 1 }),
  },
  {
    name: 'morgan inside',
    inner: logged,
    handler: ({ res }) => res.set('X-Mine', '1').status(201).json({ a: 1 }),
  },
  {
    name: 'response-time outside',
    outer: timed,
    alike: withoutTime,
    replayAlike: withTimeMasked,
    handler: ({ res }) => res.json({ a: 1 }),
  },
  {
    name: 'response-time inside',
    inner: timed,
    alike: withoutTime,
    handler: ({ res }) => res.json({ a: 1 }),
  },
  {
    name: 'response-time inside, flushHeaders, write and end',
    inner: timed,
    alike: withoutTime,
    handler: ({ res }) => {
      res.flushHeaders();
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'on-headers outside, which changes the status and the headers of the handler',
    outer: () => [
      (_req, res, next) => {
        onHeaders(res, function head(this: Response) {
          this.setHeader('X-Seen', String(this.getHeader('X-Mine')));
          if (this.statusCode === 201) this.statusCode = 202;
        });
        next();
      },
    ],
    handler: ({ res }) => res.status(201).set('X-Mine', '1').send('ok'),
    alike: (run) => ({ ...run, events: [] }),
  },
  {
    name: 'on-headers inside, with writeHead of an object',
    inner: () => [
      (_req, res, next) => {
        onHeaders(res, function head(this: Response) {
          this.setHeader('X-Seen', String(this.getHeader('X-Mine')));
        });
        next();
      },
    ],
    handler: ({ res }) => res.writeHead(201, { 'X-Mine': '1' }).end('ok'),
  },
  {
    name: 'connect-timeout outside, not reached',
    outer: () => [timeout('60s')],
    handler: ({ res }) => res.json({ a: 1 }),
  },
  {
    name: 'connect-timeout outside answers 503 first',
    outer: () => [timeout('20ms')],
    ends: 'pending',
    alike: (run) => ({
      ...run,
      answers: run.answers.map((answer) => ({ ...answer, body: answer.body.subarray(0, 15) })),
    }),
    handler: async ({ res, log }) => {
      while (!res.headersSent) await delay(5);
      log(thrownBy(() => res.json({ late: true })));
    },
  },
  {
    name: 'an outer layer wraps json',
    outer: () => [
      (_req, res, next) => {
        const { json } = res;
        res.json = (body: object) => json.call(res, { ...body, wrapped: true });
        next();
      },
    ],
    handler: ({ res }) => res.json({ a: 1 }),
  },
  {
    name: 'an outer layer wraps end, and sets a header there',
    outer: () => [
      (_req, res, next) => {
        const end = res.end as (...args: unknown[]) => typeof res;
        res.end = ((...args: unknown[]) => {
          if (!res.headersSent) res.setHeader('X-Late', '1');
          return end.apply(res, args);
        }) as typeof res.end;
        next();
      },
    ],
    handler: ({ res }) => res.set('X-Mine', '1').json({ a: 1 }),
  },
  {
    name: 'an outer layer counts what is written',
    outer: (log) => [
      (_req, res, next) => {
        const write = res.write as (...args: unknown[]) => boolean;
        res.write = ((...args: unknown[]) => {
          log('outer write');
          return write.apply(res, args);
        }) as typeof res.write;
        next();
      },
    ],
    handler: ({ res }) => res.end('whole'),
  },
];

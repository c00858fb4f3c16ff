import type { ErrorRequestHandler } from 'express';
import type { Case, Run } from '../bare-and-held.ts';
import { codeOf, stateOf, thrownBy, tick } from './observed.ts';

/** Of an error page, the stack in it differs: the middleware is a frame of it. */
const firstBytesOfPage = (run: Run): Run => ({
  ...run,
  answers: run.answers.map((answer) => ({
    ...answer,
    body: answer.body.subarray(0, 15),
    lines: answer.lines.filter((line) => !line.startsWith('Content-Length')),
  })),
});

/** The connection is cut: bare, after a part of the answer; held, nothing has left before. */
const cutOff = (run: Run): Run => ({
  ...run,
  answers: [],
  events: run.events.map((event) => event.slice(0, 5)),
});

/** Handlers that throw, answer twice, or give the answer to others. */
export const failures: Case[] = [
  {
    name: 'json, then throw',
    handler: ({ res }) => {
      res.json({ ok: true });
      throw new Error('late');
    },
  },
  {
    name: 'json, then a rejection',
    only: 5,
    handler: async ({ res }) => {
      res.json({ ok: true });
      throw new Error('late');
    },
  },
  {
    name: 'json, then next with an error',
    handler: ({ res, next }) => {
      res.json({ ok: true });
      next(new Error('late'));
    },
  },
  {
    name: 'json, then next',
    handler: ({ res, next }) => {
      res.json({ ok: true });
      next();
    },
  },
  {
    name: '100 KB, then throw',
    handler: ({ res }) => {
      res.end(Buffer.alloc(100 * 1024, 'x'));
      throw new Error('late');
    },
  },
  {
    name: 'write, then throw',
    ends: 'pending',
    closesLate: true,
    alike: cutOff,
    handler: ({ res }) => {
      res.write('a part');
      throw new Error('too late for a page');
    },
  },
  {
    name: 'throw at once',
    ends: 'pending',
    alike: firstBytesOfPage,
    handler: () => {
      throw new Error('at once');
    },
  },
  {
    name: 'throw after headers were set',
    ends: 'pending',
    alike: firstBytesOfPage,
    handler: ({ res }) => {
      res.status(201).set('X-Mine', '1').set('Content-Encoding', 'none');
      throw new Error('after headers');
    },
  },
  {
    name: 'a rejection',
    only: 5,
    ends: 'pending',
    alike: firstBytesOfPage,
    handler: async () => {
      await tick();
      throw new Error('rejected');
    },
  },
  {
    name: 'an error with a status of 404',
    alike: firstBytesOfPage,
    handler: ({ next }) => next(Object.assign(new Error('none'), { status: 404 })),
  },
  {
    name: 'an error that an error middleware answers with 422',
    after: (app) => {
      const answer422: ErrorRequestHandler = (error, _req, res, _next) => {
        res.status(422).json({ error: error.message });
      };
      app.use(answer422);
    },
    handler: ({ next }) => next(new Error('no such parcel')),
  },
  {
    name: 'next, and another handler answers',
    after: (app, log) => {
      app.use((_req, res) => {
        log('second handler');
        res.status(202).json({ by: 'another' });
      });
    },
    handler: ({ res, next }) => {
      res.set('X-First', '1');
      next();
    },
  },
  { name: 'next, and nobody answers', handler: ({ next }) => next() },
  { name: 'a 500 of the handler', ends: 'pending', handler: ({ res }) => res.status(500).json({}) },
  {
    name: 'a 503 of the handler, in parts and with headers',
    ends: 'pending',
    handler: ({ res }) => {
      res.writeHead(503, 'Not now', { 'Retry-After': '1', 'X-List': ['1', '2'] });
      res.write('not ');
      res.end('now');
    },
  },
  {
    name: 'a 408 of the handler',
    ends: 'pending',
    handler: ({ res }) => res.status(408).send('too slow'),
  },
  {
    name: 'answering twice',
    handler: ({ res, log }) => {
      res.json({ first: true });
      log(
        thrownBy(() => res.status(500).json({ second: true })),
        stateOf(res),
      );
    },
    // The late status is not on the wire; it stays readable.
    alike: (run) => ({ ...run, events: run.events.map((event) => event.slice(0, 6)) }),
  },
  {
    name: 'answering twice, in a later turn',
    handler: async ({ res, log }) => {
      res.json({ first: true });
      await tick();
      log(thrownBy(() => res.json({ second: true })));
    },
  },
  {
    name: 'sendFile, then json at once',
    handler: async ({ res, files, log }) => {
      const sent = new Promise<void>((resolve) => {
        res.sendFile('small.txt', { root: files }, (error) => {
          log('file', error !== undefined);
          resolve();
        });
      });
      res.json({ first: true });
      await sent;
    },
  },
  {
    name: 'destroy with an error, before an answer',
    ends: 'pending',
    handler: ({ res, log }) => {
      res.on('error', (error) => log('event', codeOf(error)));
      log(res.destroy(new Error('destroyed')) === res, res.destroyed);
    },
  },
  {
    name: 'destroy, after a part',
    ends: 'pending',
    alike: cutOff,
    handler: ({ res }) => {
      res.write('a part');
      res.destroy();
    },
  },
  {
    name: 'end, then destroy',
    handler: ({ res, log }) => {
      res.end('ok');
      res.destroy();
      log(res.destroyed);
    },
    // Bare, the connection dies before `finish`, though the client has its answer.
    alike: (run) => ({ ...run, events: run.events.filter((event) => event.startsWith('close')) }),
  },
  {
    name: 'write after destroy',
    ends: 'pending',
    handler: ({ res, log }) => {
      res.destroy();
      log(res.write('late', (error) => log('callback', codeOf(error))));
    },
  },
  {
    name: 'end after destroy',
    ends: 'pending',
    handler: ({ res, log }) => {
      res.destroy();
      log(res.end('late') === res);
    },
  },
  {
    name: 'the socket destroyed before an answer',
    ends: 'pending',
    closesLate: true,
    handler: ({ req }) => {
      req.socket.destroy();
    },
    prepare: () => undefined,
  },
];

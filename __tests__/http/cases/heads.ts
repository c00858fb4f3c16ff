import type { Case } from '../bare-and-held.ts';
import { inAnyOrder, stateOf, thrownBy, withoutLines } from './observed.ts';

const withoutAnyHeader = (app: { disable(name: string): unknown }): void => {
  app.disable('x-powered-by');
};

/** Lines of one name stay in order; a saved response has them together. */
const FLAT = ['X-A', '1', 'X-B', '2', 'X-A', '3'];
const PAIRS: [string, string][] = [
  ['X-A', '1'],
  ['x-b', '2'],
  ['X-A', '3'],
];

/** Heads: status, reason, header lines. */
export const heads: Case[] = [
  {
    name: 'writeHead with an object',
    handler: ({ res }) => res.writeHead(201, { 'X-A': ['1', '2'], 'x-b': 3 }).end('ok'),
  },
  {
    name: 'writeHead with a flat array',
    handler: ({ res }) => res.writeHead(201, FLAT).end('ok'),
  },
  {
    name: 'writeHead with an object, no header before',
    prepare: withoutAnyHeader,
    handler: ({ res }) => res.writeHead(201, { 'X-A': ['1', '2'], 'x-b': 3 }).end('ok'),
  },
  {
    name: 'writeHead with a flat array, no header before',
    alike: inAnyOrder,
    prepare: withoutAnyHeader,
    handler: ({ res }) => res.writeHead(201, FLAT).end('ok'),
  },
  {
    name: 'writeHead with an array of pairs, no header before',
    alike: inAnyOrder,
    prepare: withoutAnyHeader,
    handler: ({ res }) => res.writeHead(201, PAIRS as never).end('ok'),
  },
  {
    name: 'writeHead with an array of pairs, headers before',
    handler: ({ res, log }) => {
      log(
        thrownBy(() => res.writeHead(201, PAIRS as never)),
        res.statusCode,
        res.headersSent,
      );
      res.status(400).end('mended');
    },
  },
  {
    name: 'writeHead with a length and Connection: close, no header before',
    alike: inAnyOrder,
    prepare: withoutAnyHeader,
    replayAlike: withoutLines('Connection', 'Keep-Alive'),
    handler: ({ res }) => {
      res.writeHead(200, { 'Content-Length': 2, Connection: 'close', 'X-A': 1 }).end('ok');
    },
  },
  {
    name: 'writeHead with headers after all were removed',
    prepare: withoutAnyHeader,
    handler: ({ res }) => {
      res.setHeader('X-Gone', '1');
      res.removeHeader('X-Gone');
      res.writeHead(200, { 'X-A': '1' }).end('ok');
    },
  },
  {
    name: 'writeHead with a reason and headers',
    handler: ({ res }) => res.writeHead(201, 'Made', { 'X-A': '1' }).end('ok'),
  },
  { name: 'writeHead with a reason', handler: ({ res }) => res.writeHead(404, 'Gone').end('ok') },
  {
    name: 'writeHead, then write and end',
    handler: ({ res }) => {
      res.writeHead(200, { 'Content-Type': 'text/plain' });
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'writeHead twice',
    handler: ({ res, log }) => {
      res.writeHead(201);
      log(
        thrownBy(() => res.writeHead(202)),
        stateOf(res),
      );
      res.end('ok');
    },
  },
  {
    name: 'writeHead of a status that is none',
    handler: ({ res, log }) => {
      log(
        thrownBy(() => res.writeHead(99)),
        res.headersSent,
      );
      res.status(400).end('mended');
    },
  },
  {
    name: 'writeHead with a value that is none',
    handler: ({ res, log }) => {
      log(
        thrownBy(() => res.writeHead(200, { 'X-A': 'a\nb' })),
        res.headersSent,
      );
      log(
        thrownBy(() => res.writeHead(200, { 'X A': 'a' })),
        res.headersSent,
      );
      res.status(400).end('mended');
    },
  },
  {
    name: 'writeHeader, the old name, where Node still has it',
    handler: ({ res, log }) => {
      const { writeHeader = res.writeHead } = res as { writeHeader?: typeof res.writeHead };
      writeHeader.call(res, 201, { 'X-A': '1' });
      log('writeHeader' in res);
      res.end('ok');
    },
  },
  {
    name: 'writeHeader, where it is no more',
    outer: () => [
      (_req, res, next) => {
        Object.assign(res, { writeHeader: undefined });
        next();
      },
    ],
    handler: ({ res, log }) => {
      log(typeof (res as { writeHeader?: unknown }).writeHeader);
      res.end('ok');
    },
  },
  {
    name: 'statusMessage',
    handler: ({ res }) => {
      res.statusMessage = 'Made';
      res.status(201).send('ok');
    },
  },
  { name: 'a status without a name', handler: ({ res }) => res.status(299).send('ok') },
  {
    name: 'a status changed after writeHead',
    handler: ({ res }) => {
      res.writeHead(201);
      res.statusCode = 500;
      res.statusMessage = 'No';
      res.end('ok');
    },
    alike: (run) => ({ ...run, events: [] }),
  },
  {
    name: 'setHeader of an array',
    handler: ({ res }) => {
      res.setHeader('Link', ['</1>', '</2>', '</3>']);
      res.end('ok');
    },
  },
  {
    name: 'a number as value, and an array changed after the head',
    handler: ({ res }) => {
      const values = ['1', '2'];
      res.setHeader('X-Number', 7);
      res.setHeader('X-List', values);
      res.writeHead(200);
      values.push('3');
      res.end('ok');
    },
  },
  {
    name: 'an array changed between write and end',
    handler: ({ res }) => {
      const values = ['1', '2'];
      res.setHeader('X-List', values);
      res.write('a');
      values[0] = 'changed';
      res.end('b');
    },
  },
  {
    name: 'appendHeader',
    handler: ({ res }) => {
      res.appendHeader('X-A', '1').appendHeader('x-a', ['2', '3']).appendHeader('X-B', '4');
      res.end('ok');
    },
  },
  {
    name: 'setHeaders of a Map',
    handler: ({ res }) => {
      res.setHeaders(
        new Map([
          ['X-A', '1'],
          ['X-B', '2'],
        ]),
      );
      res.end('ok');
    },
  },
  {
    name: 'setHeaders of Headers, with two cookies',
    handler: ({ res }) => {
      const headers = new Headers({ 'X-A': '1' });
      headers.append('set-cookie', 'a=1');
      headers.append('set-cookie', 'b=2');
      res.setHeaders(headers);
      res.end('ok');
    },
  },
  {
    name: 'removeHeader of its own',
    handler: ({ res }) => {
      res.setHeader('X-A', '1');
      res.removeHeader('x-a');
      res.end('ok');
    },
  },
  {
    name: 'late changes of the head',
    handler: ({ res, log }) => {
      res.end('ok');
      log(
        thrownBy(() => res.setHeader('X-Late', '1')),
        thrownBy(() => res.append('X-Late', '1')),
      );
      log(thrownBy(() => res.appendHeader('X-Late', '1')));
      log(
        thrownBy(() => res.removeHeader('X-Powered-By')),
        thrownBy(() => res.writeHead(500)),
      );
      log(stateOf(res), res.getHeader('X-Powered-By'), res.hasHeader('X-Late'));
    },
  },
  {
    name: 'late changes after a write',
    handler: ({ res, log }) => {
      res.write('a');
      log(
        thrownBy(() => res.setHeader('X-Late', '1')),
        stateOf(res),
      );
      res.end('b');
    },
  },
  {
    name: 'a response header named Expect',
    handler: ({ res }) => {
      res.setHeader('Expect', 'nothing');
      res.send('ok');
    },
  },
  {
    name: 'a repeated name that the server joins',
    server: { uniqueHeaders: ['X-Joined'] },
    handler: ({ res }) => {
      res.setHeader('X-Joined', ['1', '2']);
      res.setHeader('X-Apart', ['1', '2']);
      res.end('ok');
    },
  },
];

import type { Case, Run } from '../bare-and-held.ts';
import { stateOf, thrownBy, withoutLines } from './observed.ts';

/** What is never saved is not on the wire of a held answer, or of its first sending only. */
const without = (...names: string[]) => {
  const strip = withoutLines(...names);
  return (run: Run): Run => ({
    ...run,
    answers: run.answers.map((answer) => ({ ...strip(answer), trailers: [], informational: [] })),
  });
};

/** Framing, what may leave early, and answers without a body. */
export const framings: Case[] = [
  {
    name: 'flushHeaders',
    handler: ({ res, log }) => {
      res.flushHeaders();
      log(stateOf(res));
      res.flushHeaders();
      res.end('ok');
    },
  },
  {
    name: 'early hints',
    alike: without(),
    handler: async ({ res, log }) => {
      const { promise, resolve } = pending();
      res.writeEarlyHints({ link: '</style.css>; rel=preload' }, resolve);
      await promise;
      log('told', res.headersSent);
      res.send('ok');
    },
  },
  {
    name: 'writeProcessing',
    alike: without(),
    handler: ({ res, log }) => {
      res.writeProcessing();
      log(res.headersSent);
      res.send('ok');
    },
  },
  {
    name: 'Expect: 100-continue, answered by Node',
    asked: { headers: ['Expect: 100-continue', 'Content-Length: 4'] },
    afterContinue: 'body',
    handler: ({ req, res }) => {
      req.on('end', () => res.send('ok')).resume();
    },
  },
  {
    name: 'Expect: 100-continue, answered by the handler',
    asked: { headers: ['Expect: 100-continue', 'Content-Length: 4'] },
    afterContinue: 'body',
    mayLeaveEarly: true,
    // A replay needs no body of the client, and does not ask for it.
    replayAlike: (answer) => ({
      ...withoutLines('Connection', 'Keep-Alive')(answer),
      informational: [],
    }),
    handler: ({ req, res }) => {
      res.writeContinue();
      req.on('end', () => res.send('ok')).resume();
    },
  },
  {
    name: 'trailers',
    alike: without('Trailer'),
    handler: ({ res }) => {
      res.writeHead(200, { Trailer: 'X-Sum' });
      res.write('ok');
      res.addTrailers({ 'X-Sum': '42' });
      res.end();
    },
  },
  {
    name: 'trailers and chunks, asked for, in one end',
    alike: without('Trailer'),
    handler: ({ res }) => {
      res.setHeader('Trailer', 'X-Sum').setHeader('Transfer-Encoding', 'chunked');
      res.addTrailers({ 'X-Sum': '42' });
      res.end('ok');
    },
  },
  {
    name: 'Date of the handler',
    handler: ({ res }) => {
      res.setHeader('Date', 'Sun, 06 Nov 1994 08:49:37 GMT');
      res.end('ok');
    },
  },
  {
    name: 'sendDate = false',
    handler: ({ res }) => {
      res.sendDate = false;
      res.end('ok');
    },
  },
  {
    name: 'Connection: close of the handler',
    replayAlike: withoutLines('Connection', 'Keep-Alive'),
    handler: ({ res }) => {
      res.setHeader('Connection', 'close');
      res.end('ok');
    },
  },
  {
    name: 'Connection: close of the handler, written in parts',
    replayAlike: withoutLines('Connection', 'Keep-Alive'),
    handler: ({ res }) => {
      res.setHeader('Connection', 'close');
      res.write('o');
      res.end('k');
    },
  },
  {
    name: 'Transfer-Encoding of the handler',
    handler: ({ res }) => {
      res.setHeader('Transfer-Encoding', 'chunked');
      res.end('ok');
    },
  },
  {
    name: 'neither length nor chunks, by the will of the handler',
    replayAlike: withoutLines('Connection', 'Keep-Alive'),
    handler: ({ res }) => {
      res.removeHeader('Content-Length');
      res.removeHeader('Transfer-Encoding');
      res.end('ok');
    },
    // The client of a bare answer must wait for the close; a held answer has a length.
    alike: (run) => ({ ...without('Connection', 'Keep-Alive')(run), isConnectionOpen: true }),
  },
  {
    name: 'an upgrade that is only named',
    asked: { headers: ['Upgrade: h2c'] },
    handler: ({ res }) => {
      res.setHeader('Upgrade', 'h2c');
      res.end('ok');
    },
    replayAlike: withoutLines('Upgrade'),
  },
  { name: '204 by json', handler: ({ res }) => res.status(204).json({ never: 'sent' }) },
  { name: '204 by end', handler: ({ res }) => res.status(204).end() },
  {
    name: '204 by write and end',
    handler: ({ res, log }) => {
      res.status(204);
      log(res.write('never sent', () => log('written')));
      res.end('never', () => log('ended'));
    },
  },
  {
    name: '204, refused by a strict server',
    server: { rejectNonStandardBodyWrites: true },
    handler: ({ res, log }) => {
      res.status(204);
      log(
        thrownBy(() => res.write('never')),
        stateOf(res),
      );
      res.end();
    },
  },
  { name: '304 by end', handler: ({ res }) => res.status(304).set('ETag', '"a"').end() },
  { name: '205', handler: ({ res }) => res.status(205).send('never') },
  {
    name: 'send for HEAD',
    asked: { method: 'HEAD' },
    handler: ({ res }) => res.send('not for HEAD'),
  },
  {
    name: 'write and end for HEAD',
    asked: { method: 'HEAD' },
    handler: ({ res }) => {
      res.write('not ');
      res.end('for HEAD');
    },
  },
  {
    name: 'a length for HEAD',
    asked: { method: 'HEAD' },
    handler: ({ res }) => res.set('Content-Length', '1234').end(),
  },
  {
    name: 'HTTP/1.0',
    asked: { version: '1.0' },
    handler: ({ res }) => res.json({ old: true }),
  },
  {
    name: 'HTTP/1.0, written in parts',
    asked: { version: '1.0' },
    handler: ({ res }) => {
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'HTTP/1.0 with keep-alive',
    asked: { version: '1.0', headers: ['Connection: keep-alive'] },
    handler: ({ res }) => res.json({ old: true }),
  },
];

function pending(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

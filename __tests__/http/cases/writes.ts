import type { Case } from '../bare-and-held.ts';
import { codeOf, thrownBy, tick } from './observed.ts';

/** Every way to call `write` and `end`. */
export const writes: Case[] = [
  {
    name: 'write and end',
    handler: ({ res }) => {
      res.write('one ');
      res.write(Buffer.from('two '));
      res.end('three');
    },
  },
  {
    name: 'write in several encodings',
    handler: ({ res }) => {
      res.write('é', 'latin1');
      res.write('c3a9', 'hex');
      res.write('w6k=', 'base64');
      res.end('é', 'utf8');
    },
  },
  {
    name: 'empty writes',
    handler: ({ res }) => {
      res.write('');
      res.write(Buffer.alloc(0));
      res.end();
    },
  },
  {
    name: '1,000 small writes',
    handler: ({ res }) => {
      for (let i = 0; i < 1000; i += 1) res.write(`${i},`);
      res.end();
    },
  },
  {
    name: 'what write and end answer',
    handler: ({ res, log }) => {
      log(res.write('a'), res.end('b') === res, res.end() === res);
    },
  },
  {
    name: 'end with a callback',
    handler: ({ res, log }) => res.end(() => log('ended', res.writableFinished)),
  },
  {
    name: 'end of a string with a callback',
    handler: ({ res, log }) => res.end('ok', () => log('ended', res.writableFinished)),
  },
  {
    name: 'end of a string with encoding and callback',
    handler: ({ res, log }) => res.end('é', 'latin1', () => log('ended')),
  },
  {
    name: 'end of null with a callback',
    handler: ({ res, log }) => res.end(null, null as never, () => log('ended')),
  },
  {
    name: 'end of an empty string with a callback',
    handler: ({ res, log }) => res.end('', () => log('ended')),
  },
  {
    name: 'end of a number',
    handler: ({ res, log }) => {
      log(
        thrownBy(() => res.end(123)),
        res.headersSent,
        res.writableEnded,
      );
      res.status(400).json({ error: 'mended' });
    },
  },
  {
    name: 'end twice, the second with a callback',
    handler: ({ res, log }) => {
      res.end('first');
      res.end(() => log('second', res.writableFinished));
    },
  },
  {
    name: 'write of null, of an object, of a number',
    handler: ({ res, log }) => {
      log(
        thrownBy(() => res.write(null)),
        thrownBy(() => res.write({})),
      );
      log(
        thrownBy(() => res.write(5)),
        res.headersSent,
      );
      res.end('ok');
    },
  },
  {
    name: 'waiting for the callback of each write',
    handler: async ({ res, log }) => {
      for (const part of ['a', 'b', 'c']) {
        await new Promise<void>((resolve) => res.write(part, () => resolve()));
        log('written', part);
      }
      res.end();
    },
  },
  {
    name: 'a callback of write comes later, never inside',
    handler: ({ res, log }) => {
      let isInside = true;
      res.write('a', 'utf8', () => log('inside', isInside));
      isInside = false;
      res.end();
    },
  },
  {
    name: 'a chunk used again after its callback',
    handler: async ({ res }) => {
      const chunk = Buffer.alloc(4);
      for (const part of ['one.', 'two.', 'thr.']) {
        chunk.write(part);
        await new Promise<void>((resolve) => res.write(chunk, () => resolve()));
      }
      res.end();
    },
  },
  {
    name: 'write after end, with a listener for the error',
    handler: ({ res, log }) => {
      res.on('error', (error) => log('event', codeOf(error)));
      res.end('ok');
      log(res.write('late', (error) => log('callback', codeOf(error))));
    },
  },
  {
    name: 'end of a chunk after end, with a listener for the error',
    handler: ({ res, log }) => {
      res.on('error', (error) => log('event', codeOf(error)));
      res.end('ok');
      log(res.end('late', (error?: Error) => log('callback', codeOf(error))) === res);
    },
  },
  {
    name: 'cork and uncork',
    handler: ({ res, log }) => {
      res.cork();
      res.write('a');
      res.write('b');
      log(res.writableCorked);
      res.uncork();
      res.end('c');
    },
  },
  {
    name: 'cork, and end in the same turn',
    handler: ({ res }) => {
      res.cork();
      res.end('corked');
    },
  },
  {
    name: 'write in several turns',
    handler: async ({ res, log }) => {
      res.write('a');
      await tick();
      log(res.headersSent, res.writableEnded);
      res.write('b');
      await tick();
      res.end('c');
    },
  },
  {
    name: 'streams of object mode, high water mark and length when idle',
    handler: ({ res, log }) => {
      log(res.writableHighWaterMark, res.writableObjectMode, res.writableLength);
      log(res.writableNeedDrain, res.writable, res.writableCorked);
      res.end('ok');
    },
  },
  {
    name: 'a length checked by Node, right',
    handler: ({ res }) => {
      res.strictContentLength = true;
      res.setHeader('Content-Length', 4);
      res.write('ab');
      res.end('cd');
    },
  },
  {
    name: 'a length that Node does not check, for there are chunks',
    handler: ({ res }) => {
      res.strictContentLength = true;
      res.writeHead(200, { 'Content-Length': '4', 'Transfer-Encoding': 'chunked' });
      res.write('more than ');
      res.end('four');
    },
  },
  {
    name: 'a length checked by Node, too long',
    handler: ({ res, log }) => {
      res.strictContentLength = true;
      res.setHeader('Content-Length', 4);
      res.flushHeaders();
      res.write('abc');
      log(thrownBy(() => res.write('de')));
      res.end('d');
    },
  },
];

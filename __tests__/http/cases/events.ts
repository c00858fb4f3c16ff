import { AsyncLocalStorage } from 'node:async_hooks';
import { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { Case } from '../bare-and-held.ts';
import { delay, stateOf, thrownBy, tick } from './observed.ts';

const context = new AsyncLocalStorage<string>();

const inContext: RequestHandler = (_req, _res, next) => {
  context.run('inner', () => next());
};

/** What user code can observe of its response, in which order and in which context. */
export const events: Case[] = [
  {
    name: 'state before, after write, after end, at finish',
    handler: ({ res, log }) => {
      log('before', stateOf(res));
      res.write('a');
      log('written', stateOf(res));
      res.on('finish', () => log('finish', stateOf(res), res.writableFinished));
      res.end('b');
      log('ended', stateOf(res));
    },
  },
  {
    name: 'finish, then close, once each',
    handler: ({ res, log }) => {
      for (const name of ['finish', 'close', 'error', 'drain', 'timeout']) {
        res.on(name, () => log(name));
      }
      res.once('finish', () => log('once finish')).prependListener('close', () => log('prepended'));
      res.end('ok', () => log('callback'));
    },
    alike: (run) => ({ ...run, log: [...run.log].sort() }),
  },
  {
    name: 'finish comes after what the handler does next',
    handler: ({ res, log }) => {
      res.on('finish', () => log('finish'));
      res.end('ok');
      log('after end');
    },
  },
  {
    name: 'writableFinished in a listener of finish',
    handler: async ({ res, log }) => {
      res.end('ok');
      await tick();
      if (!res.writableFinished) await new Promise((resolve) => res.once('finish', resolve));
      log(res.writableFinished, res.writableEnded);
    },
  },
  {
    name: 'asynchronous context in callbacks and listeners',
    handler: ({ res, log }) => {
      context.run('handler', () => {
        res.on('finish', () => log('finish', context.getStore()));
        res.on('close', () => log('close', context.getStore()));
        res.write('a', () => log('written', context.getStore()));
        res.end('b', () => log('ended', context.getStore()));
      });
    },
    // In which order a callback of end and a listener of finish run, differs from Node to Node.
    alike: (run) => ({ ...run, log: [...run.log].sort() }),
  },
  {
    name: 'asynchronous context of an inner middleware',
    inner: () => [inContext],
    handler: ({ res, log }) => {
      res.on('finish', () => log('finish', context.getStore()));
      res.end('b', () => log('ended', context.getStore()));
    },
    alike: (run) => ({ ...run, log: [...run.log].sort() }),
  },
  {
    name: 'asynchronous context over json',
    handler: async ({ res, log }) => {
      await context.run('handler', async () => {
        await delay(2);
        res.on('finish', () => log('finish', context.getStore()));
        res.json({ ok: true });
      });
    },
  },
  {
    name: 'socket, connection and prototype',
    handler: ({ req, res, log }) => {
      log(res.socket === req.socket, res.connection === req.socket, req.res === res);
      const { response } = res.app as unknown as { response: unknown };
      log(res instanceof ServerResponse, Object.getPrototypeOf(res) === response);
      log(typeof res.json, res.req === req, res.locals !== undefined);
      res.end('ok');
      log(res.socket === req.socket);
    },
  },
  {
    name: 'setTimeout fires, and a 503 is answered',
    ends: 'pending',
    handler: ({ res, log }) => {
      res.setTimeout(20, () => {
        log('timeout', res.headersSent);
        res.status(503).send('too slow');
      });
    },
  },
  {
    name: 'setTimeout fires, and a 422 is answered',
    handler: ({ res }) => {
      res.setTimeout(20, () => res.status(422).send('too slow'));
    },
  },
  {
    name: 'the handler replaces end',
    handler: ({ res, log }) => {
      const { end } = res;
      res.end = function (this: typeof res, ...args: unknown[]) {
        log('its own end');
        return (end as (...args: unknown[]) => typeof res).apply(this, args);
      } as typeof res.end;
      res.send('ok');
    },
  },
  {
    name: 'the handler replaces write and end for a later part',
    handler: ({ res }) => {
      const write = res.write.bind(res) as (chunk: string) => boolean;
      const end = res.end.bind(res) as () => typeof res;
      res.write = ((chunk: string) => write(chunk.toUpperCase())) as typeof res.write;
      res.end = (() => end()) as typeof res.end;
      res.write('upper ');
      res.write('case');
      res.end();
    },
  },
  {
    name: 'the handler replaces writeHead',
    handler: ({ res }) => {
      const { writeHead } = res;
      let count = 0;
      res.writeHead = function (this: typeof res, ...args: unknown[]) {
        count += 1;
        this.setHeader('X-Count', String(count));
        return (writeHead as (...args: unknown[]) => typeof res).apply(this, args);
      } as typeof res.writeHead;
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'everything once more, when the answer is out',
    handler: ({ res, log }) => {
      res.on('finish', () => {
        const { writeHeader = res.writeHead } = res as { writeHeader?: typeof res.writeHead };
        log(
          thrownBy(() => writeHeader.call(res, 500)),
          thrownBy(() => res.writeHead(500)),
        );
        log(res.end() === res, res.destroy() === res, res.emit('mine'));
      });
      res.end('ok');
    },
  },
  {
    name: 'an event of its own on the response',
    handler: ({ res, log }) => {
      res.on('mine', (...given) => log('mine', ...given));
      log(res.emit('mine', 1, 2), res.emit('nobody'));
      log(thrownBy(() => res.emit('error', new Error('of nobody'))));
      res.end('ok');
    },
  },
  {
    name: 'close, emitted by the handler itself',
    handler: ({ res, log }) => {
      res.on('close', () => log('close', res.destroyed));
      log(res.emit('close'));
      res.end('ok');
    },
  },
  {
    name: 'pipe out of a response',
    handler: ({ res, log }) => {
      res.on('error', (error) => log((error as { code?: string }).code));
      log(thrownBy(() => res.pipe(process.stderr)));
      res.end('ok');
    },
  },
  {
    name: 'keeping the methods, and calling them bound',
    handler: ({ res }) => {
      const { write, end } = res;
      write.call(res, 'a', 'utf8');
      end.call(res, 'b', 'utf8');
    },
  },
];

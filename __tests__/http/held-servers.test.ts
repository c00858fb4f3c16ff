import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import express, { type RequestHandler } from 'express';
import { idempotent, MemoryStore } from '../../src/index.ts';
import { HeldApp } from './held-app.ts';
import { bytesOf, comparable, exceptDate, Wire } from './wire.ts';

// Build machines stand still for seconds.
jest.setTimeout(60_000);

const PSK = {
  ciphers: 'PSK-AES256-CBC-SHA384:PSK+HIGH',
  maxVersion: 'TLSv1.2' as const,
};

/** TLS by a key that both sides know, so that no certificate is needed. */
async function setup(handler: RequestHandler) {
  const key = Buffer.alloc(32, 'shared');
  const app = express().set('env', 'test');
  app.use(idempotent(new MemoryStore()), handler);
  const server: Server = createServer({ ...PSK, pskCallback: () => key }, app);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    open: () =>
      new Wire(
        connect({
          ...PSK,
          port,
          host: '127.0.0.1',
          pskCallback: () => ({ psk: key, identity: 'client' }),
          checkServerIdentity: () => undefined,
        }),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('over TLS', () => {
  test('an answer is held and replayed, and a throw after it does not cost it', async () => {
    await using app = await setup((_req, res) => {
      res.status(201).append('ETag', '"a"').append('ETag', '"b"').json({ made: true });
      throw new Error('late');
    });
    const asked = bytesOf({}, ['Idempotency-Key: k']);
    const first = await app.open().send(asked).answer();
    const retry = await app.open().send(asked).answer();
    expect(first.body.toString()).toBe('{"made":true}');
    expect(comparable(exceptDate(retry))).toEqual(comparable(exceptDate(first)));
  });

  test('a large answer is streamed whole', async () => {
    const large = Buffer.alloc(3 * 1024 * 1024, 'large ');
    await using app = await setup((_req, res) => res.write(large) || res.end('end'));
    const { body } = await app
      .open()
      .send(bytesOf({}, ['Idempotency-Key: k']))
      .answer();
    expect(body.equals(Buffer.concat([large, Buffer.from('end')]))).toBe(true);
  });
});

describe('on a Node whose header map cannot be reached', () => {
  test('headers are read by public methods, and the record is the same', async () => {
    const seen: unknown[] = [];
    let copy: typeof import('../../src/express/held-response.ts') | undefined;
    jest.isolateModules(() => {
      copy = require('../../src/express/held-response.ts');
    });
    const save = (response: unknown): 'send' => {
      seen.push(response);
      return 'send';
    };
    const outer: RequestHandler = (_req, res, next) => {
      res.setHeader('Link', ['</o>']);
      res.setHeader('X-Replaced', 'outer');
      const symbols = jest.spyOn(Object, 'getOwnPropertySymbols').mockReturnValue([]);
      copy?.holdResponse(res, { maxBytes: 1000, isOutcome: () => true, save });
      next();
      symbols.mockRestore();
    };
    await using app = await new HeldApp({
      settings: { save },
      outer: [outer],
      handler: (_req, res) => {
        res.removeHeader('X-Powered-By');
        res.appendHeader('Link', '</mine>').setHeader('X-Replaced', 'mine').end('ok');
      },
    }).listen();
    await app.ask().answer();
    expect(seen[0]).toEqual({
      kept: true,
      status: 200,
      headers: [
        ['Link', '</mine>', 'added'],
        ['X-Replaced', 'mine'],
      ],
      removedNames: ['x-powered-by'],
      body: Buffer.from('ok'),
    });
    expect(seen[1]).toEqual(seen[0]);
  });
});

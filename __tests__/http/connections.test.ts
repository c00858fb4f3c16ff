import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RequestHandler } from 'express';
import { type IdempotencyOptions, idempotent, MemoryStore } from '../../src/index.ts';
import { FaultyStore } from '../../src/testing/index.ts';
import { codeOf, delay } from './cases/observed.ts';
import { EXPRESS_VERSIONS } from './express-versions.ts';
import { gate, until } from './gate.ts';
import { bytesOf, comparable, exceptDate, Wire, type WireAnswer } from './wire.ts';

/** The answers as they were on the wire, but for their dates. */
const seen = (answers: readonly WireAnswer[]) => answers.map(exceptDate).map(comparable);

const asking = (key: string, path = '/') => bytesOf({ path }, [`Idempotency-Key: ${key}`]);

describe.each(EXPRESS_VERSIONS)('a connection under %s', (_, express) => {
  const opened: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
  });

  async function setup(handler: RequestHandler, options: IdempotencyOptions = {}) {
    const store = new FaultyStore(new MemoryStore());
    const app = express().set('env', 'test');
    const bare = express().set('env', 'test');
    let runs = 0;
    app.use(idempotent(store, options), (_req, _res, next) => {
      runs += 1;
      next();
    });
    app.use(handler);
    bare.use(handler);
    const listen = async (listener: typeof app): Promise<() => Wire> => {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      opened.push({
        async close() {
          server.closeAllConnections();
          await new Promise((resolve) => server.close(resolve));
        },
      });
      return () => {
        const wire = new Wire(port);
        opened.push(wire);
        return wire;
      };
    };
    const toHeld = await listen(app);
    const toBare = await listen(bare);
    return { toHeld, toBare, store, runs: () => runs };
  }

  /** The retry of `key` on a connection of its own. */
  const retried = (wire: Wire, key: string) => wire.send(asking(key)).answer();

  test('is kept for the next request, as bare', async () => {
    const { toHeld, toBare } = await setup((req, res) => {
      res.status(201).append('ETag', '"a"').append('ETag', '"b"').json({ path: req.path });
    });
    const used = async (wire: Wire) => {
      for (const [at, path] of ['/1', '/2', '/3'].entries()) {
        wire.send(asking(path, path));
        await wire.answers(at + 1);
      }
      expect(wire.isClosed).toBe(false);
      return seen(await wire.answers(3));
    };
    expect(await used(toHeld())).toEqual(await used(toBare()));
  });

  test('is given pipelined answers in the order of the requests, as bare', async () => {
    const { toHeld, toBare } = await setup(async (req, res) => {
      await delay(req.path === '/slow' ? 30 : 1);
      if (req.path === '/parts') res.write('in ');
      res.end(`parts ${req.path}`);
    });
    const used = async (wire: Wire) => {
      const paths = ['/slow', '/quick', '/parts', '/last'];
      wire.send(Buffer.concat(paths.map((path) => asking(path, path))));
      const answers = await wire.answers(4);
      return answers.map(({ statusLine, body }) => [statusLine, body.toString()]);
    };
    const held = await used(toHeld());
    expect(held).toEqual(await used(toBare()));
    expect(held.map(([, body]) => body)).toEqual([
      'parts /slow',
      'parts /quick',
      'in parts /parts',
      'parts /last',
    ]);
  });

  test('carries every answer that was given before a handler threw, then closes', async () => {
    const { toHeld, toBare } = await setup((req, res) => {
      res.json({ path: req.path });
      if (req.path === '/throws') throw new Error('after the answer');
    });
    const used = async (wire: Wire) => {
      wire.send(Buffer.concat([asking('1', '/first'), asking('2', '/throws')]));
      await wire.until('never sent');
      return seen(await wire.answers(2));
    };
    const held = await used(toHeld());
    expect(held).toEqual(await used(toBare()));
    expect(held.map(({ isWhole }) => isWhole)).toEqual([true, true]);
  });

  test('that closes during a slow pipe costs nothing: the retry is given all of it', async () => {
    const parts = gate();
    const { toHeld, store, runs } = await setup((_req, res) => {
      Readable.from(slowly(parts.opened)).pipe(res);
    });
    const client = toHeld().send(asking('k'));
    await until(() => runs() === 1);
    client.close();
    await delay(20);
    parts.open();
    await until(() => store.history.methods.includes('complete'));
    expect((await retried(toHeld(), 'k')).body.toString()).toBe('one two three');
    expect(runs()).toBe(1);
  });

  test('that closes during a pipeline does not fail it: the retry is given all', async () => {
    const parts = gate();
    const log: string[] = [];
    const { toHeld, store, runs } = await setup(async (_req, res) => {
      const piped = pipeline(Readable.from(slowly(parts.opened)), res);
      log.push(await piped.then(() => 'done', codeOf));
    });
    const client = toHeld().send(asking('k'));
    await until(() => runs() === 1);
    client.close();
    await delay(20);
    expect(log).toEqual([]);
    parts.open();
    await until(() => store.history.methods.includes('complete'));
    expect((await retried(toHeld(), 'k')).body.toString()).toBe('one two three');
    await until(() => log.length === 1);
    // The client was gone when the answer left: since Node 24 that is an error of the pipeline.
    expect(log.join()).toMatch(/^(done|ERR_STREAM_PREMATURE_CLOSE)$/);
    expect(runs()).toBe(1);
  });

  test('that closes before the answer tells the handler so once, after its answer', async () => {
    const answering = gate();
    const log: string[] = [];
    const { toHeld, store, runs } = await setup(async (req, res) => {
      res.on('close', () => log.push('close'));
      req.idempotency?.signal.addEventListener('abort', () => log.push('signal'));
      await answering.opened;
      log.push(`answers ${res.destroyed} ${res.closed} ${res.writable}`);
      res.json({ ok: true });
    });
    const client = toHeld().send(asking('k'));
    await until(() => runs() === 1);
    client.close();
    await until(() => log.includes('signal'));
    answering.open();
    await until(() => log.includes('close'));
    await delay(20);
    expect(log).toEqual(['signal', 'answers false false true', 'close']);
    expect(store.history.methods).toEqual(['claim', 'complete']);
    expect((await retried(toHeld(), 'k')).body.toString()).toBe('{"ok":true}');
  });

  test('that closes while pipelined answers wait for their turn loses none of them', async () => {
    const answering = gate();
    const { toHeld, store, runs } = await setup(async (req, res) => {
      await answering.opened;
      res.json({ path: req.path });
    });
    const paths = ['/1', '/2', '/3'];
    const client = toHeld().send(Buffer.concat(paths.map((path) => asking(path, path))));
    await until(() => runs() === 3);
    client.close();
    await delay(20);
    answering.open();
    const isSaved = () => store.history.methods.filter((each) => each === 'complete').length === 3;
    await until(isSaved);
    for (const path of paths) {
      const { body } = await toHeld().send(asking(path, path)).answer();
      expect(body.toString()).toBe(JSON.stringify({ path }));
    }
    expect(runs()).toBe(3);
  });

  test('whose handler never answers leaves the key pending, and nothing saved', async () => {
    const { toHeld, store, runs } = await setup((_req, res) => {
      res.status(201).write('a part, and no end');
    });
    const client = toHeld().send(asking('k'));
    await until(() => runs() === 1);
    await delay(50);
    expect(client.received.length).toBe(0);
    client.close();
    expect((await retried(toHeld(), 'k')).body.toString()).toBe('{"error":"request_pending"}');
    expect(store.history.methods).toEqual(['claim', 'claim']);
  });
});

async function* slowly(go: Promise<void>): AsyncGenerator<string> {
  yield 'one ';
  await go;
  yield 'two ';
  await delay(3);
  yield 'three';
}

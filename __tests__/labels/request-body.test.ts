import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { readRequestBody } from '../../src/labels/request-body.ts';
import { exchange, isComplete, parseAnswer, rawRequest } from './raw-http.ts';

// A huge body takes its time, on a machine that may be busy.
jest.setTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

/** A server that answers what it has read, and takes 8 bytes. */
async function setup() {
  const kinds: string[] = [];
  const server = createServer(async (req, res) => {
    if (req.url === '/read-twice') req.resume().on('end', () => read(8));
    else await read(8);

    async function read(maxBytes: number): Promise<void> {
      const body = await readRequestBody(req, maxBytes).catch((error: Error) => error);
      const kind = body instanceof Error ? body.message : body.kind;
      kinds.push(kind);
      res.end(body instanceof Error || body.kind !== 'complete' ? kind : body.bytes);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => server.closeAllConnections(),
  );
  return { port: (server.address() as AddressInfo).port, kinds };
}

const CHUNKED = 'POST / HTTP/1.1\r\nHost: labels\r\nTransfer-Encoding: chunked\r\n\r\n';

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

/** Reads the next answer on a connection that stays open. */
async function nextAnswer(socket: Socket) {
  let received = Buffer.alloc(0);
  while (!isComplete(received)) {
    const chunk = await new Promise<Buffer>((resolve, reject) => {
      socket.once('data', resolve).once('close', () => reject(new Error('closed')));
    });
    received = Buffer.concat([received, chunk]);
  }
  return parseAnswer(received);
}

test('a body of the largest size is read whole', async () => {
  const { port } = await setup();
  const answer = await exchange(port, [rawRequest('POST /', [], '12345678')]);
  expect(answer.body).toBe('12345678');
});

test('a body that comes byte by byte is read whole', async () => {
  const { port } = await setup();
  const socket = await open(port);
  cleanups.push(() => socket.destroy());
  const answer = nextAnswer(socket);
  for (const byte of `${CHUNKED}2\r\n12\r\n3\r\n345\r\n0\r\n\r\n`) {
    socket.write(byte);
    await new Promise(setImmediate);
  }
  expect((await answer).body).toBe('12345');
});

test('no body at all is a body of no bytes', async () => {
  const { port } = await setup();
  expect((await exchange(port, [rawRequest('POST /')])).body).toBe('');
});

test('a byte too many is too large', async () => {
  const { port } = await setup();
  const answer = await exchange(port, [rawRequest('POST /', [], '123456789')]);
  expect(answer.body).toBe('too_large');
});

test('a byte too many is answered while the client is still sending', async () => {
  const { port } = await setup();
  const socket = await open(port);
  cleanups.push(() => socket.destroy());
  const answer = nextAnswer(socket);
  socket.write(`${CHUNKED}9\r\n123456789`);
  expect((await answer).body).toBe('too_large');
});

test('a client that sends all of a huge body is answered, and keeps its connection', async () => {
  const { port } = await setup();
  const socket = await open(port);
  cleanups.push(() => socket.destroy());
  const first = nextAnswer(socket);
  await new Promise((resolve) =>
    socket.write(rawRequest('POST /', [], Buffer.alloc(20 * 1024 * 1024, 'x')), resolve),
  );
  expect((await first).body).toBe('too_large');
  const second = nextAnswer(socket);
  socket.write(rawRequest('POST /', [], 'next'));
  expect((await second).body).toBe('next');
});

test('a client that goes away in the middle has sent no body', async () => {
  const { port, kinds } = await setup();
  const socket = await open(port);
  socket.write(`${CHUNKED}4\r\n12`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  while (kinds.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(kinds).toEqual(['aborted']);
});

test('a body that was read before is an error that says what to mount where', async () => {
  const { port } = await setup();
  const answer = await exchange(port, [rawRequest('POST /read-twice', [], '1234')]);
  expect(answer.body).toContain('Mount the labels router before express.json()');
});

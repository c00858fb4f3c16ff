import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { drainable } from '../../src/labels/drainable-server.ts';
import { parseAnswer, rawRequest } from './raw-http.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const LONG_MS = 60_000;

async function setup(listener: RequestListener = (_req, res) => res.end('done')) {
  const server = createServer(listener);
  const drain = drainable(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.closeAllConnections());
  return { port: (server.address() as AddressInfo).port, drain };
}

/** A connection, and all that it receives until it is closed. */
async function open(port: number) {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  const received = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()));
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  return { socket, received, chunks };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('a request that runs is answered, and its connection closed after it', async () => {
  let finish = (): void => {};
  const { port, drain } = await setup((_req, res) => {
    finish = () => res.end('done');
  });
  const { socket, received } = await open(port);
  socket.write(rawRequest('GET /'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const drained = drain(LONG_MS);
  finish();
  const answer = parseAnswer(Buffer.from(await received));
  expect(answer.body).toBe('done');
  expect(answer.values('Connection')).toEqual(['close']);
  await drained;
});

test('a request whose body is still coming in is answered', async () => {
  const { port, drain } = await setup((req, res) => req.resume().on('end', () => res.end('done')));
  const { socket, received } = await open(port);
  socket.write('POST / HTTP/1.1\r\nHost: labels\r\nContent-Length: 4\r\n\r\n12');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const drained = drain(LONG_MS);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.write('34');
  expect(parseAnswer(Buffer.from(await received)).body).toBe('done');
  await drained;
});

test('a request whose head is still coming in is answered', async () => {
  const { port, drain } = await setup();
  const { socket, received } = await open(port);
  socket.write('GET / HTTP/1.1\r\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const drained = drain(LONG_MS);
  socket.write('Host: labels\r\n\r\n');
  expect(parseAnswer(Buffer.from(await received)).values('Connection')).toEqual(['close']);
  await drained;
});

test('a connection that waits for its next request is closed at once', async () => {
  const { port, drain } = await setup();
  const { socket, received, chunks } = await open(port);
  socket.write(rawRequest('GET /'));
  await until(() => chunks.length > 0);
  await drain(LONG_MS);
  expect(parseAnswer(Buffer.from(await received)).body).toBe('done');
});

test('a new connection is refused', async () => {
  const { port, drain } = await setup(() => {});
  const { socket } = await open(port);
  socket.write(rawRequest('GET /'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const drained = drain(200);
  const refused = await new Promise<NodeJS.ErrnoException>((resolve) => {
    const late: Socket = connect(port, '127.0.0.1').once('error', resolve);
    cleanups.push(() => late.destroy());
  });
  expect(refused.code).toBe('ECONNREFUSED');
  await drained;
});

test('what is not finished in time is cut off', async () => {
  const { port, drain } = await setup(() => {});
  const { socket, received } = await open(port);
  socket.write(rawRequest('GET /'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const silent = await open(port);
  await drain(100);
  expect(await received).toBe('');
  expect(await silent.received).toBe('');
});

import { connect, type Socket } from 'node:net';
import { askForLabel } from './label-client.ts';
import { BODY, JSON_TYPE, KEY, OPERATION } from './label-rig.ts';
import { parseAnswer, rawRequest } from './raw-http.ts';
import { ServiceProcesses } from './service-process.ts';

// Each test starts processes, on a machine that may be busy.
jest.setTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const REQUEST = rawRequest('POST /labels', [JSON_TYPE, KEY], BODY).toString();

async function setup() {
  const { services, start } = setupServices();
  return { services, service: await start() };
}

function setupServices() {
  const services = new ServiceProcesses();
  cleanups.push(() => services.cleanUp());
  return { services, start: (env?: NodeJS.ProcessEnv) => services.start(env) };
}

/** A connection on which this has been sent, and all that it receives until it is closed. */
async function send(port: number, text: string) {
  const socket: Socket = connect(port, '127.0.0.1').on('error', () => {});
  cleanups.push(() => socket.destroy());
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const received = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
  await new Promise((resolve) => socket.write(text, resolve));
  await pause();
  return { socket, received };
}

/** The signal takes its time to arrive; until then connections are taken. */
async function untilRefused(port: number): Promise<void> {
  const endMs = Date.now() + 4_000;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const code = await new Promise((resolve) => {
      socket.once('connect', () => resolve('connected'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    socket.destroy();
    if (code === 'ECONNREFUSED') return;
    if (Date.now() > endMs) throw new Error(`New connections are still ${code}.`);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

describe.each(['SIGTERM', 'SIGINT'] as const)('told to stop by %s', (signal) => {
  test('an idle service ends at once with code 0, and keeps what it has', async () => {
    const { services, service } = await setup();
    const { text } = await askForLabel(service.port, OPERATION);
    const idle = await send(service.port, rawRequest('GET /other').toString());
    expect(await service.end(signal)).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(parseAnswer(Buffer.from(await idle.received)).status).toBe(404);
    const { port } = await services.start();
    expect((await askForLabel(port, OPERATION)).text).toBe(text);
  });
});

test('a request that is under way is finished, and no new one is taken', async () => {
  const { services, service } = await setup();
  const slow = await send(service.port, REQUEST.slice(0, -10));
  const ended = service.end('SIGTERM');
  await untilRefused(service.port);
  slow.socket.write(REQUEST.slice(-10));
  const answer = parseAnswer(Buffer.from(await slow.received));
  expect(answer.status).toBe(201);
  expect(answer.values('Connection')).toEqual(['close']);
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  const { port } = await services.start();
  expect((await askForLabel(port, OPERATION)).text).toContain(answer.body);
});

test('a request whose client has left is finished, too, and its key is not left behind', async () => {
  const { services, start } = setupServices();
  const carrier = await services.startCarrier({ CARRIER_DELAY_MS: '1500' });
  const env = { MODE: 'keyed', CARRIER_URL: `http://127.0.0.1:${carrier.port}` };
  const service = await start(env);
  const impatient = await send(service.port, REQUEST);
  impatient.socket.destroy();
  expect(await service.end('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
  const { port } = await start(env);
  // The lease of a minute has not passed.
  expect((await askForLabel(port, OPERATION)).status).toBe(201);
});

test('a client that dawdles does not keep it for 10 seconds', async () => {
  const { services, service } = await setup();
  await send(service.port, REQUEST.slice(0, -10));
  await send(service.port, '');
  const startedAtMs = performance.now();
  expect(await service.end('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(performance.now() - startedAtMs).toBeLessThan(10_000);
  const { port } = await services.start();
  expect((await askForLabel(port, OPERATION)).status).toBe(201);
});

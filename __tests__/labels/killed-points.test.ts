import { join } from 'node:path';
import { askForLabel } from './label-client.ts';
import { labelsMade, type Place } from './labels-made.ts';
import { ServiceProcesses } from './service-process.ts';

// On a Node without node:sqlite; the root does not install this driver.
jest.mock(
  'better-sqlite3',
  () => jest.requireActual('../databases/node_modules/better-sqlite3-12'),
  { virtual: true },
);

// Each test starts a dozen processes, on a machine that may be busy.
jest.setTimeout(240_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const LEASE_MS = 1_000;
/** The carrier lets an order lie for so long that a service can die meanwhile. */
const CARRIER_DELAY_MS = 300;

/** A service that stays, and a way to have another one on the same records die. */
async function setup(mode: string, place: Place) {
  const services = new ServiceProcesses();
  cleanups.push(() => services.cleanUp());
  const env: NodeJS.ProcessEnv = { MODE: mode, LEASE_MS: `${LEASE_MS}` };
  if (place === 'at the carrier') {
    const delay = { CARRIER_DELAY_MS: `${CARRIER_DELAY_MS}` };
    const carrier = await services.startCarrier(delay);
    env['CARRIER_URL'] = `http://127.0.0.1:${carrier.port}`;
  }
  const survivor = await services.start(env);

  /** Asks a service that is killed at this point; then the one that stays, again and again. */
  async function crashAt(point: string): Promise<Outcome> {
    const operation = { request_id: point.replaceAll(' ', '-'), parcel_id: 'parcel-42' };
    const hook = `--require ${join(__dirname, 'kill-at.cjs')}`;
    const killed = await services.start({ ...env, NODE_OPTIONS: hook, KILL_AT: point });
    // At the last point the client may have got all of the answer.
    const told = await askForLabel(killed.port, operation).catch(() => undefined);
    const { signal } = await killed.ended;
    expect(`${point}: ${signal}`).toBe(`${point}: SIGKILL`);
    const answer = await askUntil(survivor.port, operation, mode === 'blind' ? 2_500 : 20_000);
    const again = await askForLabel(survivor.port, operation);
    expect(again.text).toBe(answer.text);
    if (told !== undefined) expect(answer.text).toBe(told.text);
    const labels = await labelsMade(services, place, operation.request_id);
    return { point, status: answer.status, labels };
  }

  return { crashAt };
}

interface Outcome {
  readonly point: string;
  readonly status: number;
  readonly labels: number;
}

/** The first answer other than pending, or the last one in time. */
async function askUntil(port: number, operation: Parameters<typeof askForLabel>[1], ms: number) {
  const endMs = performance.now() + ms;
  for (;;) {
    const answer = await askForLabel(port, operation);
    const isPending = answer.text.endsWith('{"error":"request_pending"}');
    if (!isPending || performance.now() > endMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Several at a time: most of the time is waiting for a lease. */
async function outcomes(points: readonly string[], crashAt: (point: string) => Promise<Outcome>) {
  const found: Outcome[] = [];
  const rest = points[Symbol.iterator]();
  async function lane(): Promise<void> {
    for (const point of rest) found.push(await crashAt(point));
  }
  await Promise.all([lane(), lane(), lane()]);
  return found.sort((one, other) => points.indexOf(one.point) - points.indexOf(other.point));
}

const SAVED = ['after the commit', 'completed', 'before the first byte', 'first byte'];
const IN_TABLE = [
  'request received',
  'claimed',
  'label begun',
  'label written',
  'before the commit',
  ...SAVED,
];
const AT_CARRIER = [
  'request received',
  'claimed',
  'carrier asked',
  'carrier has answered',
  'before the commit',
  ...SAVED,
];

test.each([
  ['transactional', 'in the table', IN_TABLE],
  ['keyed', 'at the carrier', AT_CARRIER],
  ['sealed', 'at the carrier', AT_CARRIER],
] as const)(
  '%s: killed at any point, a service leaves one label, and a retry gets its answer',
  async (mode, place, points) => {
    const { crashAt } = await setup(mode, place);
    expect(await outcomes(points, crashAt)).toEqual(
      points.map((point) => ({ point, status: 201, labels: 1 })),
    );
  },
);

test('blind: killed at any point, a service leaves one label at most, and a retry runs nothing', async () => {
  const { crashAt } = await setup('blind', 'in the table');
  const pending = (point: string, labels: number) => ({ point, status: 409, labels });
  expect(await outcomes(IN_TABLE, crashAt)).toEqual([
    { point: 'request received', status: 201, labels: 1 },
    pending('claimed', 0),
    pending('label begun', 0),
    pending('label written', 1),
    pending('before the commit', 1),
    ...SAVED.map((point) => ({ point, status: 201, labels: 1 })),
  ]);
});

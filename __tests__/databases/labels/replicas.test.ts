import { askForLabel } from '../../labels/label-client.ts';
import { shipmentsOf } from '../../labels/labels-made.ts';
import { PLACES } from './places.ts';
import { askUntilDone, loadWithCrash, operationOf, Replicas } from './replicas.ts';

// Each test starts a server and several services, on a machine that may be busy.
jest.setTimeout(240_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const KEYS = Array.from({ length: 60 }, (_, n) => `label-req-${n}`);

async function setup(store: string, env: NodeJS.ProcessEnv = {}) {
  const place = await (PLACES[store] as (typeof PLACES)[string])();
  cleanups.push(() => place.stop());
  const replicas = new Replicas({ ...place.env, ...env });
  cleanups.push(() => replicas.cleanUp());
  const labelsByRequest = () => place.labelsByRequest(replicas.services.databasePath);
  return { replicas, labelsByRequest };
}

/** What each replica answers for each key, in the end. */
async function lastAnswers(ports: readonly number[], timeoutMs?: number) {
  const all = KEYS.map(async (key) => {
    const [one, other] = await Promise.all(ports.map((port) => askUntilDone(port, key, timeoutMs)));
    expect(other?.text).toBe(one?.text);
    return one?.text ?? '';
  });
  return new Map((await Promise.all(all)).map((text, n) => [KEYS[n] ?? '', text]));
}

test.each(['postgres', 'mysql'])(
  '%s: over two replicas, one killed in the middle, each key has one label, and equal answers',
  async (store) => {
    const { replicas, labelsByRequest } = await setup(store);
    const { acknowledged, wrong, ports } = await loadWithCrash(replicas, KEYS);
    expect(wrong).toEqual([]);
    expect(acknowledged.size).toBeGreaterThanOrEqual(KEYS.length / 4);
    const last = await lastAnswers(ports);
    for (const [key, text] of acknowledged) expect(last.get(key)).toBe(text);
    expect([...last.values()].filter((text) => !text.startsWith('201\n'))).toEqual([]);
    const labels = await labelsByRequest();
    expect(labels.size).toBe(KEYS.length);
    expect([...labels].filter(([, count]) => count !== 1)).toEqual([]);
  },
);

test('redis, blind: each key has one label at most, and what was answered stays the answer', async () => {
  const { replicas, labelsByRequest } = await setup('redis');
  const { acknowledged, wrong, ports } = await loadWithCrash(replicas, KEYS);
  expect(wrong).toEqual([]);
  const last = await lastAnswers(ports, 500);
  for (const [key, text] of acknowledged) expect(last.get(key)).toBe(text);
  const labels = await labelsByRequest();
  expect([...labels].filter(([, count]) => count !== 1)).toEqual([]);
});

test.each(['keyed', 'sealed'])(
  'redis, %s: each key has one label at the carrier, whatever was killed and lost',
  async (mode) => {
    const { replicas } = await setup('redis', { MODE: mode, CARRIER_URL: '' });
    const carrier = await replicas.services.startCarrier({
      CARRIER_LOSES_EVERY: '3',
      CARRIER_DELAY_MS: '20',
    });
    const CARRIER_URL = `http://127.0.0.1:${carrier.port}`;
    const both = await Promise.all([0, 1].map(() => replicas.start({ CARRIER_URL })));
    const ports = both.map(({ port }) => port);
    const told = Promise.all(
      KEYS.map((key, n) => askForLabel(ports[n % 2] ?? 0, operationOf(key)).catch(() => undefined)),
    );
    await both[1]?.end('SIGKILL');
    ports[1] = (await replicas.start({ CARRIER_URL })).port;
    const first = await told;
    for (const [n, key] of KEYS.entries()) {
      let answer = await askUntilDone(ports[0] ?? 0, key);
      // A reply of the carrier that was lost is an error, and the key is pending until its lease.
      while (answer.status === 500) answer = await askUntilDone(ports[1] ?? 0, key);
      expect(answer.status).toBe(201);
      if (first[n]?.status === 201) expect(answer.text).toBe(first[n]?.text);
      expect(shipmentsOf(replicas.services, key)).toHaveLength(1);
    }
  },
);

test('a label that one replica has made is shown by the other', async () => {
  const { replicas } = await setup('postgres');
  const [one, other] = await Promise.all([replicas.start(), replicas.start()]);
  await askForLabel(one.port, operationOf('label-req-7'));
  const shown = await fetch(`http://127.0.0.1:${other.port}/labels/label-901`);
  expect(await shown.json()).toMatchObject({ request_id: 'label-req-7', state: 'created' });
  expect((await fetch(`http://127.0.0.1:${other.port}/labels/label-902`)).status).toBe(404);
});

test('a replica that is told to stop finishes what it has begun, and leaves no key behind', async () => {
  // No lease has to be waited for: nothing is cut off.
  const { replicas } = await setup('postgres', { LEASE_MS: '' });
  const [one, other] = await Promise.all([replicas.start(), replicas.start()]);
  const asked = KEYS.map((key) => askForLabel(one.port, operationOf(key)).catch(() => undefined));
  await Promise.race(asked);
  expect(await one.end('SIGTERM')).toMatchObject({ code: 0, signal: null, stderr: '' });
  const told = await Promise.all(asked);
  for (const [n, key] of KEYS.entries()) {
    const answer = await askForLabel(other.port, operationOf(key));
    expect(answer.status).toBe(201);
    if (told[n] !== undefined) expect(answer.text).toBe(told[n]?.text);
  }
});

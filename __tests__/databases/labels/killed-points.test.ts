import { join } from 'node:path';
import { askForLabel } from '../../labels/label-client.ts';
import { PLACES } from './places.ts';
import { askUntilDone, operationOf, Replicas } from './replicas.ts';

// Each test starts a server and a dozen services, on a machine that may be busy.
jest.setTimeout(240_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const POINTS = [
  'request received',
  'claimed',
  'label begun',
  'label written',
  'before the commit',
  'after the commit',
  'completed',
  'before the first byte',
  'first byte',
];
const HOOK = `--require ${join(__dirname, '../../labels/kill-at.cjs')}`;

async function setup(store: string) {
  const place = await (PLACES[store] as (typeof PLACES)[string])();
  cleanups.push(() => place.stop());
  const replicas = new Replicas(place.env);
  cleanups.push(() => replicas.cleanUp());
  const survivor = await replicas.start();

  /** Asks a replica that is killed at this point; then the one that stays. */
  async function crashAt(point: string): Promise<void> {
    const request_id = nameOf(point);
    const killed = await replicas.start({ NODE_OPTIONS: HOOK, KILL_AT: point });
    // At the last point the client may have got all of the answer.
    const told = await askForLabel(killed.port, operationOf(request_id)).catch(() => undefined);
    const { signal, stderr } = await killed.ended;
    expect({ point, signal, stderr }).toEqual({ point, signal: 'SIGKILL', stderr: '' });
    const answer = await askUntilDone(survivor.port, request_id);
    expect(`${point}: ${answer.status}`).toBe(`${point}: 201`);
    const again = await askForLabel(survivor.port, operationOf(request_id));
    expect(again.text).toBe(answer.text);
    if (told !== undefined) expect(answer.text).toBe(told.text);
  }
  return { crashAt, labels: () => place.labelsByRequest(replicas.services.databasePath) };
}

function nameOf(point: string): string {
  return point.replaceAll(' ', '-');
}

test.each(['postgres', 'mysql'])(
  '%s, transactional: killed at any point, a replica leaves one label, and a retry gets its answer',
  async (store) => {
    const { crashAt, labels } = await setup(store);
    const rest = POINTS[Symbol.iterator]();
    async function lane(): Promise<void> {
      for (const point of rest) await crashAt(point);
    }
    await Promise.all([lane(), lane(), lane()]);
    expect(new Map(await labels())).toEqual(new Map(POINTS.map((point) => [nameOf(point), 1])));
  },
);

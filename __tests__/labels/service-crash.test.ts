import { openSqlite } from '../../src/labels/sqlite-handle.ts';
import { askForLabel } from './label-client.ts';
import { type ServiceProcess, ServiceProcesses } from './service-process.ts';

// On a Node without node:sqlite; the root does not install this driver.
jest.mock(
  'better-sqlite3',
  () => jest.requireActual('../databases/node_modules/better-sqlite3-12'),
  { virtual: true },
);

// Each test starts processes, on a machine that may be busy.
jest.setTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

function setup() {
  const services = new ServiceProcesses();
  cleanups.push(() => services.cleanUp());
  /** Acknowledged answers by request id. */
  const acknowledged = new Map<string, string>();

  return {
    services,
    acknowledged,
    /** Asks, and holds the answer against the one that was acknowledged before it was asked for. */
    async ask(port: number, request_id: string): Promise<number> {
      const before = acknowledged.get(request_id);
      const { status, text } = await askForLabel(port, operationOf(request_id));
      if (before !== undefined) expect(text).toBe(before);
      else if (status === 201) acknowledged.set(request_id, text);
      else expect(text).toContain('{"error":"request_pending"}');
      return status;
    },
    async labelsByRequest(): Promise<{ request_id: string; labels: number }[]> {
      const handle = await openSqlite(services.databasePath);
      const counts = 'SELECT request_id, count(*) AS labels FROM labels GROUP BY request_id';
      const rows = handle.prepare(counts) as unknown as { all(): unknown };
      try {
        return rows.all() as { request_id: string; labels: number }[];
      } finally {
        handle.close();
      }
    },
  };
}

function operationOf(request_id: string) {
  return { request_id, parcel_id: `parcel-of-${request_id}` };
}

test('two equal requests make one label, and get equal bytes', async () => {
  const { services, labelsByRequest } = setup();
  const { port } = await services.start();
  const first = await askForLabel(port, operationOf('label-req-7'));
  const second = await askForLabel(port, operationOf('label-req-7'));
  expect(first.text).toBe(
    [
      '201',
      'Location: /labels/label-901',
      'ETag: "label-901-v1"',
      'ETag: "backup"',
      'Content-Type: application/json',
      'Content-Length: 69',
      '',
      '{"request_id":"label-req-7","state":"created","label_id":"label-901"}',
    ].join('\n'),
  );
  expect(second.text).toBe(first.text);
  expect(await labelsByRequest()).toEqual([{ request_id: 'label-req-7', labels: 1 }]);
});

test('a service that was killed and started again gives the same bytes', async () => {
  const { services, ask } = setup();
  const before = await services.start();
  expect(await ask(before.port, 'label-req-7')).toBe(201);
  await before.end('SIGKILL');
  const after = await services.start();
  expect(await ask(after.port, 'label-req-7')).toBe(201);
});

test('killed at any moment under load, it loses no answer and makes no second label', async () => {
  const { services, acknowledged, ask, labelsByRequest } = setup();
  const ROUNDS = 8;
  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await services.start();
    const keys = Array.from({ length: 400 }, (_, index) => `round-${round}-${index % 200}`);
    const load = loadWith(keys, 16, (key) => ask(service.port, key));
    const atLeast = acknowledged.size + 1 + Math.random() * 50;
    while (acknowledged.size < atLeast) await new Promise((resolve) => setTimeout(resolve, 5));
    await service.end('SIGKILL');
    await load;
  }
  const { port } = await services.start();
  await loadWith([...acknowledged.keys()], 16, async (key) => {
    expect(await ask(port, key)).toBe(201);
  });
  const labels = await labelsByRequest();
  expect(labels.length).toBeGreaterThanOrEqual(acknowledged.size);
  expect(labels.filter((row) => row.labels !== 1)).toEqual([]);
});

test('two services on one file make one label for a key', async () => {
  const { services, acknowledged, ask, labelsByRequest } = setup();
  const both = await Promise.all([services.start(), services.start()]);
  const keys = Array.from({ length: 60 }, (_, index) => `label-req-${index}`);
  const portOf = (turn: number) => (both[turn % 2] as ServiceProcess).port;
  const asked = keys.flatMap((key) => Array.from({ length: 8 }, (_, turn) => ({ key, turn })));
  await loadWith(asked, 32, ({ key, turn }) => ask(portOf(turn), key));
  for (const turn of [0, 1]) {
    await loadWith(keys, 16, async (key) => expect(await ask(portOf(turn), key)).toBe(201));
  }
  expect(acknowledged.size).toBe(keys.length);
  const labels = await labelsByRequest();
  expect(labels).toHaveLength(keys.length);
  expect(labels.filter((row) => row.labels !== 1)).toEqual([]);
});

/** Does all the work, `width` at a time; a connection that breaks ends the work on its lane. */
async function loadWith<T>(
  work: readonly T[],
  width: number,
  run: (one: T) => Promise<unknown>,
): Promise<void> {
  const rest = work[Symbol.iterator]();
  async function lane(): Promise<void> {
    for (const one of rest) {
      try {
        await run(one);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ECONNRESET' || code === 'ECONNREFUSED') return;
        throw error;
      }
    }
  }
  await Promise.all(Array.from({ length: width }, lane));
}

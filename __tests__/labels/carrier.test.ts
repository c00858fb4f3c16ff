import { askForLabel, type LabelAnswer } from './label-client.ts';
import { shipmentsOf } from './labels-made.ts';
import { type ServiceProcess, ServiceProcesses } from './service-process.ts';

// Each test starts processes, on a machine that may be busy.
jest.setTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const LEASE_MS = 1_000;
const PENDING = '{"error":"request_pending"}';

/** A carrier, and services that ask it. */
async function setup(carrierEnv: NodeJS.ProcessEnv = {}) {
  const services = new ServiceProcesses();
  cleanups.push(() => services.cleanUp());
  const carrier = await services.startCarrier(carrierEnv);
  const start = (MODE: string, env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> => {
    const CARRIER_URL = `http://127.0.0.1:${carrier.port}`;
    return services.start({ MODE, CARRIER_URL, LEASE_MS: `${LEASE_MS}`, ...env });
  };
  return { services, carrier, start };
}

function operationOf(request_id: string) {
  return { request_id, parcel_id: `parcel-of-${request_id}` };
}

/** Asks until there is a label, and answers all that was said before it, too. */
async function askUntilMade(port: number, request_id: string): Promise<LabelAnswer[]> {
  const answers: LabelAnswer[] = [];
  const endMs = performance.now() + 30_000;
  while (answers.at(-1)?.status !== 201) {
    if (performance.now() > endMs) throw new Error(`No label: ${answers.at(-1)?.text}`);
    answers.push(await askForLabel(port, operationOf(request_id)));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return answers;
}

describe.each(['keyed', 'sealed'])('in mode %s', (mode) => {
  test('each first reply of the carrier is lost, and each key has one label', async () => {
    const { services, start } = await setup({ CARRIER_LOSES_EVERY: '1' });
    const { port } = await start(mode);
    const keys = Array.from({ length: 12 }, (_, n) => `${mode}-${n}`);
    const told = await Promise.all(keys.map((key) => askUntilMade(port, key)));
    for (const [n, key] of keys.entries()) {
      const answers = told[n] as LabelAnswer[];
      expect(answers[0]?.text).toContain('{"error":"internal_error"}');
      const again = await askForLabel(port, operationOf(key));
      expect(again.text).toBe(answers.at(-1)?.text);
      expect(shipmentsOf(services, key)).toHaveLength(1);
    }
  });

  test('an order that lay at the carrier until its key was taken over is not carried out twice', async () => {
    const { services, start } = await setup({ CARRIER_DELAY_MS: '4000' });
    const [killed, { port }] = await Promise.all([start(mode), start(mode)]);
    const cutOff = askForLabel(killed.port, operationOf('slow')).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await killed.end('SIGKILL');
    await cutOff;
    await askUntilMade(port, 'slow');
    // The first order has been looked at by now, too.
    const shipments = shipmentsOf(services, 'slow');
    expect(shipments).toHaveLength(1);
    expect(shipments[0]?.attempt).toBe(mode === 'sealed' ? 2 : undefined);
  });

  test('a carrier that was killed and started again knows what it has shipped', async () => {
    const { services, carrier, start } = await setup();
    const { port } = await start(mode);
    const [first] = await askUntilMade(port, 'one');
    await carrier.end('SIGKILL');
    await services.startCarrier({ CARRIER_PORT: `${carrier.port}` });
    expect((await askForLabel(port, operationOf('one'))).text).toBe(first?.text);
    await askUntilMade(port, 'two');
    expect(shipmentsOf(services, 'one')).toMatchObject([{ number: 901 }]);
    expect(shipmentsOf(services, 'two')).toMatchObject([{ number: 902 }]);
  });

  test('a carrier that cannot be reached has not begun: the key is free at once', async () => {
    const { services, carrier, start } = await setup();
    const { port } = await start(mode, { LEASE_MS: '60000' });
    await carrier.end('SIGKILL');
    const failed = await askForLabel(port, operationOf('one'));
    expect(failed.text).toContain('{"error":"internal_error"}');
    await services.startCarrier({ CARRIER_PORT: `${carrier.port}` });
    expect((await askForLabel(port, operationOf('one'))).status).toBe(201);
    expect(shipmentsOf(services, 'one')).toHaveLength(1);
  });

  test('GET shows the label that the carrier has made, and no other', async () => {
    const { start } = await setup();
    const { port } = await start(mode);
    await askUntilMade(port, 'one');
    const shown = await fetch(`http://127.0.0.1:${port}/labels/label-901`);
    expect(await shown.text()).toBe(
      '{"request_id":"one","parcel_id":"parcel-of-one","state":"created","label_id":"label-901"}',
    );
    expect((await fetch(`http://127.0.0.1:${port}/labels/label-902`)).status).toBe(404);
  });
});

test('a retry within the lease is told that it is pending', async () => {
  const { start } = await setup({ CARRIER_LOSES_EVERY: '1' });
  const { port } = await start('keyed', { LEASE_MS: '60000' });
  await askForLabel(port, operationOf('one'));
  expect((await askForLabel(port, operationOf('one'))).text).toContain(PENDING);
});

describe('a carrier says in a sentence what keeps it from starting', () => {
  test.each([
    [{ CARRIER_PORT: 'http' }, 'Expected CARRIER_PORT to be a whole number from 0 to 65535'],
    [{ CARRIER_DELAY_MS: '-1' }, 'Expected CARRIER_DELAY_MS to be a whole number from 0 to 99999'],
    [{ CARRIER_FILE: '/proc/carrier.jsonl', CARRIER_PORT: '0' }, 'ENOENT'],
  ])('%j', async (env, sentence) => {
    const services = new ServiceProcesses();
    cleanups.push(() => services.cleanUp());
    const { code, stdout, stderr } = await services.runCarrier(env);
    expect(stderr).toMatch(/^carrier: [^\n]+\n$/);
    expect(stderr).toContain(sentence);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});

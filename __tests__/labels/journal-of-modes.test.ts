import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blind, done, keyed, MemoryStore, neverStarted, sealed } from '../../src/index.ts';
import { type Label, labelCreated } from '../../src/labels/index.ts';
import { openSqliteBackend } from '../../src/labels/sqlite-backend.ts';
import { BODY, JSON_TYPE, KEY } from './label-rig.ts';
import { type ModeParts, modeRig } from './mode-rig.ts';

// On a Node without node:sqlite; the root does not install this driver.
jest.mock(
  'better-sqlite3',
  () => jest.requireActual('../databases/node_modules/better-sqlite3-12'),
  { virtual: true },
);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

const LEASE_MS = 300;
const HOUR_MS = 3_600_000;

type MadeParts = ModeParts & { readonly labels: Label[] };

/** Labels as rows of a list, each under the key that its mode tells them apart by. */
const MODES: { readonly [mode: string]: (write: (call: string) => void) => Promise<MadeParts> } = {
  async blind() {
    const labels: Label[] = [];
    const createLabel: ModeParts['createLabel'] = (operation) => {
      labels.push({ label_id: `label-${901 + labels.length}`, ...operation });
      return labels.at(-1) as Label;
    };
    return { store: new MemoryStore(), recovery: blind(), createLabel, labels };
  },
  async keyed() {
    const labels: Label[] = [];
    const byKey = new Map<string, Label>();
    const createLabel: ModeParts['createLabel'] = async (operation, context) => {
      const key = context.downstreamKey('carrier');
      const known = byKey.get(key);
      if (known !== undefined) return known;
      const label = { label_id: `label-${901 + labels.length}`, ...operation };
      labels.push(label);
      byKey.set(key, label);
      return label;
    };
    const recovery = keyed({ rerunWithinMs: HOUR_MS, leaseMs: LEASE_MS });
    return { store: new MemoryStore(), recovery, createLabel, labels };
  },
  async sealed(write) {
    const labels: Label[] = [];
    const createLabel: ModeParts['createLabel'] = async (operation) => {
      labels.push({ label_id: `label-${901 + labels.length}`, ...operation });
      return labels.at(-1) as Label;
    };
    const recovery = sealed({
      leaseMs: LEASE_MS,
      recover: () => {
        write('recover');
        const [label] = labels;
        return label === undefined ? neverStarted() : done(labelCreated(label));
      },
    });
    return { store: new MemoryStore(), recovery, createLabel, labels };
  },
  async transactional() {
    const directory = await mkdtemp(join(tmpdir(), 'labels-'));
    cleanups.push(() => rm(directory, { recursive: true }));
    const { store, labels, transactional, close } = await openSqliteBackend(join(directory, 'db'));
    cleanups.push(close);
    const limits = { statementTimeoutMs: 100, lockTimeoutMs: 100, idleTimeoutMs: 100 };
    const recovery = transactional({ leaseMs: LEASE_MS, limits });
    const made: Label[] = [];
    const createLabel: ModeParts['createLabel'] = (operation, context, tx) => {
      const label = labels.create(operation, context, tx) as Label;
      made.push(label);
      return label;
    };
    return { store, recovery, createLabel, labels: made };
  },
};

async function setup(mode: string) {
  const labels: Label[] = [];
  const rig = await modeRig(async (write) => {
    const parts = await (MODES[mode] as (typeof MODES)[string])(write);
    return { ...parts, createLabel: counted(parts) };
  });
  cleanups.push(() => rig.close());
  return { rig, labels, post: (body = BODY) => rig.request([JSON_TYPE, KEY], body) };

  function counted({ createLabel, labels: made }: MadeParts): ModeParts['createLabel'] {
    return (...args) => {
      const label = createLabel(...args);
      labels.splice(0, labels.length, ...made);
      return label;
    };
  }
}

/** The header lines of an answer that belong to the connection, not to the answer. */
const TRANSPORT = /^(Date|Connection|Keep-Alive): /;
const CREATED = [
  'Location: /labels/label-901',
  'ETag: "label-901-v1"',
  'ETag: "backup"',
  'Content-Type: application/json',
  'Content-Length: 69',
  '{"request_id":"label-req-7","state":"created","label_id":"label-901"}',
];

function textOf({ lines, body }: { readonly lines: readonly string[]; readonly body: string }) {
  return [...lines.filter((line) => !TRANSPORT.test(line)), body];
}

describe.each(Object.keys(MODES))('in mode %s', (mode) => {
  test('a label is made and saved before the first byte; a replay has the same lines and bytes', async () => {
    const { post, labels } = await setup(mode);
    const created = await post();
    expect(created.journal).toEqual(['claim', 'admit', 'create', 'complete', 'write']);
    expect(created.status).toBe(201);
    expect(textOf(created)).toEqual(CREATED);
    const replayed = await post('{"parcel_id":"parcel-42","request_id":"label-req-7"}');
    expect(replayed.journal).toEqual(['claim', 'write']);
    expect(replayed.status).toBe(201);
    expect(textOf(replayed)).toEqual(CREATED);
    expect(labels).toHaveLength(1);
  });

  test('a refusal gives the key back before it is answered', async () => {
    const { rig, post, labels } = await setup(mode);
    rig.admission = 429;
    const refused = await post();
    expect(refused.journal).toEqual(['claim', 'admit', 'release', 'write']);
    expect(refused.body).toBe('{"error":"not_admitted"}');
    rig.admission = 0;
    expect((await post()).journal).toEqual(['claim', 'admit', 'create', 'complete', 'write']);
    expect(labels).toHaveLength(1);
  });

  test('another parcel is a conflict, whatever the lease', async () => {
    const { post } = await setup(mode);
    await post();
    const conflict = await post(BODY.replace('42', '43'));
    expect(conflict.journal).toEqual(['claim', 'write']);
    expect(conflict.body).toBe('{"error":"idempotency_conflict"}');
  });
});

describe('a retry of a request that failed after its label was made', () => {
  test('in mode blind is told that it is pending, for good', async () => {
    const { rig, post, labels } = await setup('blind');
    rig.failure = new Error('The printer is on fire.');
    expect((await post()).journal).toEqual(['claim', 'admit', 'create', 'write']);
    rig.failure = undefined;
    await pastLease();
    const again = await post();
    expect(again.journal).toEqual(['claim', 'write']);
    expect(again.body).toBe('{"error":"request_pending"}');
    expect(labels).toHaveLength(1);
  });

  test('in mode transactional makes the label at once: the first one is undone', async () => {
    const { rig, post, labels } = await setup('transactional');
    rig.failure = new Error('The printer is on fire.');
    const failed = await post();
    expect(failed.journal).toEqual(['claim', 'admit', 'create', 'release', 'write']);
    expect(failed.body).toBe('{"error":"internal_error"}');
    rig.failure = undefined;
    const created = await post();
    expect(created.journal).toEqual(['claim', 'admit', 'create', 'complete', 'write']);
    expect(textOf(created)).toEqual(CREATED);
    expect(labels.map(({ label_id }) => label_id)).toEqual(['label-901', 'label-901']);
  });

  test('in mode keyed asks again after the lease, and gets the label that was made', async () => {
    const { rig, post, labels } = await setup('keyed');
    rig.failure = new Error('The reply of the carrier was lost.');
    expect((await post()).journal).toEqual(['claim', 'admit', 'create', 'write']);
    rig.failure = undefined;
    expect((await post()).journal).toEqual(['claim', 'write']);
    await pastLease();
    const created = await post();
    const taken = ['claim', 'take over', 'admit', 'create', 'complete', 'write'];
    expect(created.journal).toEqual(taken);
    expect(textOf(created)).toEqual(CREATED);
    expect(labels).toHaveLength(1);
  });

  test('in mode sealed is given what was found, in the very bytes of the route', async () => {
    const { rig, post, labels } = await setup('sealed');
    rig.failure = new Error('The reply of the carrier was lost.');
    expect((await post()).journal).toEqual(['claim', 'admit', 'create', 'write']);
    rig.failure = undefined;
    await pastLease();
    const found = await post();
    expect(found.journal).toEqual(['claim', 'take over', 'recover', 'complete', 'write']);
    expect(textOf(found)).toEqual(CREATED);
    expect(textOf(await post())).toEqual(CREATED);
    expect(labels).toHaveLength(1);
  });
});

test('a createLabel that answers a promise is refused where the store commits by itself', async () => {
  const { rig, post } = await setup('transactional');
  rig.gate = Promise.resolve();
  const failed = await post();
  expect(failed.body).toBe('{"error":"internal_error"}');
  expect(rig.errors).toMatchObject([{ code: 'commit_not_synchronous' }]);
  expect((await post()).body).toBe('{"error":"request_pending"}');
});

function pastLease(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LEASE_MS + 200));
}

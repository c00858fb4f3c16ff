import { labelFingerprint } from '../../src/labels/label-operation.ts';
import { BODY, JSON_TYPE, KEY, type LabelRig, labelRig, OPERATION } from './label-rig.ts';

const rigs: LabelRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

async function setup() {
  const rig = await labelRig();
  rigs.push(rig);
  return { rig, post: (body = BODY) => rig.request('POST /labels', [JSON_TYPE, KEY], body) };
}

const CREATED = '{"request_id":"label-req-7","state":"created","label_id":"label-901"}';
const OTHER_PARCEL = '{"request_id":"label-req-7","parcel_id":"parcel-43"}';
/** The header lines of an answer that belong to the connection, not to the answer. */
const TRANSPORT = /^(Date|Connection|Keep-Alive|Content-Length): /;

function ownLines(lines: readonly string[]): string[] {
  return lines.filter((line) => !TRANSPORT.test(line));
}

const CREATED_LINES = [
  'Location: /labels/label-901',
  'ETag: "label-901-v1"',
  'ETag: "backup"',
  'Content-Type: application/json',
];

describe('a label is made', () => {
  test('and saved before the first byte of its answer', async () => {
    const { rig, post } = await setup();
    const answer = await post();
    expect(answer.journal).toEqual(['claim', 'admit', 'create', 'complete', 'write']);
    expect(answer.status).toBe(201);
    expect(ownLines(answer.lines)).toEqual(CREATED_LINES);
    expect(answer.body).toBe(CREATED);
    expect(rig.labels).toHaveLength(1);
    expect(rig.store.records.size).toBe(1);
  });

  test('under the bare request id, with the fingerprint of both ids', async () => {
    const { rig, post } = await setup();
    await post();
    const record = rig.store.records.get('label-req-7');
    expect(record?.fingerprint).toBe(labelFingerprint(OPERATION));
    expect(record?.response).toMatchObject({ kept: true, status: 201 });
  });

  test('with one context for the store, admit and createLabel', async () => {
    const { rig, post } = await setup();
    await post();
    const [admitted, created] = rig.contexts;
    expect(created).toBe(admitted);
    expect(created).toMatchObject({ key: 'label-req-7', recordKey: 'label-req-7', attempt: 1 });
    expect(created?.owner).toBe(rig.store.records.get('label-req-7')?.owner);
  });
});

describe.each([429, 503] as const)('a refusal with %i', (status) => {
  test('gives the key back before it is answered; the next attempt makes the label', async () => {
    const { rig, post } = await setup();
    rig.admission = status;
    const refused = await post();
    expect(refused.journal).toEqual(['claim', 'admit', 'release', 'write']);
    expect(refused.status).toBe(status);
    expect(ownLines(refused.lines).sort()).toEqual([
      'Content-Type: application/json',
      'Retry-After: 2',
    ]);
    expect(refused.body).toBe('{"error":"not_admitted"}');
    expect(rig.labels).toHaveLength(0);
    expect(rig.store.records.size).toBe(0);

    rig.admission = 0;
    const created = await post();
    expect(created.journal).toEqual(['claim', 'admit', 'create', 'complete', 'write']);
    expect(created.status).toBe(201);
    expect(created.body).toBe(CREATED);

    const replayed = await post();
    expect(replayed.journal).toEqual(['claim', 'write']);
    expect(replayed.status).toBe(201);
    expect(replayed.values('ETag')).toEqual(['"label-901-v1"', '"backup"']);
    expect(ownLines(replayed.lines).sort()).toEqual(ownLines(created.lines).sort());
    expect(replayed.body).toBe(created.body);
    expect(rig.labels).toHaveLength(1);
    expect(rig.store.records.size).toBe(1);
  });
});

describe('a retry', () => {
  test('is given the saved answer, and nothing is called but the store', async () => {
    const { rig, post } = await setup();
    const first = await post();
    const again = await post('\n{ "parcel_id": "parcel-42", "request_id": "label-req-7" }\n');
    expect(again.journal).toEqual(['claim', 'write']);
    expect(again.status).toBe(first.status);
    expect(ownLines(again.lines)).toEqual(ownLines(first.lines));
    expect(again.body).toBe(first.body);
    expect(rig.labels).toHaveLength(1);
  });

  test('while the first attempt runs is told that it is pending', async () => {
    const { rig, post } = await setup();
    let open = (): void => {};
    rig.gate = new Promise((resolve) => {
      open = resolve;
    });
    const first = post();
    while (rig.journal().at(-1) !== 'create') await new Promise(setImmediate);
    const meanwhile = await post();
    expect(meanwhile.journal).toEqual(['claim', 'write']);
    expect(meanwhile.status).toBe(409);
    expect(ownLines(meanwhile.lines)).toEqual(['Content-Type: application/json']);
    expect(meanwhile.body).toBe('{"error":"request_pending"}');
    open();
    expect((await first).status).toBe(201);
    expect(rig.labels).toHaveLength(1);
  });

  test('of a request whose handler failed is told that it is pending', async () => {
    const { rig, post } = await setup();
    rig.gate = Promise.reject(new Error('The printer is on fire.'));
    const failed = await post();
    expect(failed.journal).toEqual(['claim', 'admit', 'create', 'write']);
    expect(failed.status).toBe(500);
    expect(failed.body).toBe('{"error":"internal_error"}');
    expect(rig.errors).toHaveLength(1);
    rig.gate = Promise.resolve();
    const again = await post();
    expect(again.journal).toEqual(['claim', 'write']);
    expect(again.body).toBe('{"error":"request_pending"}');
    expect(rig.labels).toHaveLength(0);
  });

  test.each(['pending', 'completed'])('for another parcel is a conflict: %s', async (state) => {
    const { rig, post } = await setup();
    await post();
    const record = rig.store.records.get('label-req-7');
    if (state === 'pending') delete record?.response;
    const before = structuredClone(record);
    const conflict = await post(OTHER_PARCEL);
    expect(conflict.journal).toEqual(['claim', 'write']);
    expect(conflict.status).toBe(409);
    expect(ownLines(conflict.lines)).toEqual(['Content-Type: application/json']);
    expect(conflict.body).toBe('{"error":"idempotency_conflict"}');
    expect(rig.store.records.get('label-req-7')).toEqual(before);
    expect(rig.labels).toHaveLength(1);
  });
});

test('two request ids for one parcel are two operations, and make two labels', async () => {
  const { rig, post } = await setup();
  await post();
  const other = await rig.request(
    'POST /labels',
    [JSON_TYPE, 'Idempotency-Key: label-req-8'],
    '{"request_id":"label-req-8","parcel_id":"parcel-42"}',
  );
  expect(other.journal).toEqual(['claim', 'admit', 'create', 'complete', 'write']);
  expect(other.body).toBe('{"request_id":"label-req-8","state":"created","label_id":"label-902"}');
  expect(rig.labels.map(({ parcel_id }) => parcel_id)).toEqual(['parcel-42', 'parcel-42']);
});

test('twenty equal requests at once make one label', async () => {
  const { rig, post } = await setup();
  const answers = await Promise.all(Array.from({ length: 20 }, () => post()));
  expect(rig.labels).toHaveLength(1);
  for (const { status, body } of answers) {
    expect([201, 409]).toContain(status);
    expect(body).toBe(status === 201 ? CREATED : '{"error":"request_pending"}');
  }
  expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
});

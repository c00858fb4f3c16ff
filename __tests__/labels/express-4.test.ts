import express from 'express';
import { BODY, JSON_TYPE, KEY, type LabelRig, labelRig } from './label-rig.ts';

jest.mock('express', () => jest.requireActual('express-4'));

const rigs: LabelRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

async function setup() {
  const rig = await labelRig();
  rigs.push(rig);
  const send = (line = 'POST /labels', headers = [JSON_TYPE, KEY], body = BODY) =>
    rig.request(line, headers, body);
  return { rig, send };
}

test('this file runs on Express 4', () => {
  // Express 5 has dropped `app.del`.
  expect(express()).toHaveProperty('del');
});

test('a refusal, a label, a replay and a conflict are the same on Express 4', async () => {
  const { rig, send } = await setup();
  rig.admission = 429;
  const refused = await send();
  expect(refused.journal).toEqual(['claim', 'admit', 'release', 'write']);
  expect(refused.body).toBe('{"error":"not_admitted"}');
  rig.admission = 0;
  const created = await send();
  expect(created.journal).toEqual(['claim', 'admit', 'create', 'complete', 'write']);
  const replayed = await send();
  expect(replayed.journal).toEqual(['claim', 'write']);
  for (const answer of [created, replayed]) {
    expect(answer.status).toBe(201);
    expect(answer.values('Location')).toEqual(['/labels/label-901']);
    expect(answer.values('ETag')).toEqual(['"label-901-v1"', '"backup"']);
    expect(answer.values('Content-Type')).toEqual(['application/json']);
    expect(answer.body).toBe(
      '{"request_id":"label-req-7","state":"created","label_id":"label-901"}',
    );
  }
  const conflict = await send('POST /labels', [JSON_TYPE, KEY], BODY.replace('42', '43'));
  expect(conflict.journal).toEqual(['claim', 'write']);
  expect(conflict.body).toBe('{"error":"idempotency_conflict"}');
  expect(rig.labels).toHaveLength(1);
});

test('an error leaves the key pending on Express 4', async () => {
  const { rig, send } = await setup();
  rig.gate = Promise.reject(new Error('The printer is on fire.'));
  const failed = await send();
  expect(failed.journal).toEqual(['claim', 'admit', 'create', 'write']);
  expect(failed.body).toBe('{"error":"internal_error"}');
  const again = await send();
  expect(again.journal).toEqual(['claim', 'write']);
  expect(again.body).toBe('{"error":"request_pending"}');
});

test.each([
  [404, 'GET /other', [], '{"error":"not_found"}'],
  [404, 'POST /Labels', [JSON_TYPE, KEY], '{"error":"not_found"}'],
  [404, 'POST /labels/', [JSON_TYPE, KEY], '{"error":"not_found"}'],
  [404, 'GET /labels/%', [], '{"error":"not_found"}'],
  [405, 'OPTIONS /labels', [], '{"error":"method_not_allowed"}'],
  [415, 'POST /labels', [KEY], '{"error":"unsupported_media_type"}'],
  [400, 'POST /labels', [JSON_TYPE], '{"error":"invalid_request"}'],
])('%i for %s is the same on Express 4', async (status, line, headers, text) => {
  const { send } = await setup();
  const answer = await send(line, headers);
  expect(answer.journal).toEqual(['write']);
  expect(answer.status).toBe(status);
  expect(answer.body).toBe(text);
  expect(answer.values('Content-Type')).toEqual(['application/json']);
});

test('a body over 4096 bytes is the same on Express 4', async () => {
  const { send } = await setup();
  const answer = await send('POST /labels', [JSON_TYPE, KEY], 'x'.repeat(4_097));
  expect(answer.status).toBe(413);
  expect(answer.body).toBe('{"error":"payload_too_large"}');
});

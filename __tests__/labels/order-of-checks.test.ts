import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { BODY, JSON_TYPE, KEY, type LabelRig, labelRig } from './label-rig.ts';
import { exchange, rawRequest } from './raw-http.ts';

let rig: LabelRig;
beforeAll(async () => {
  rig = await setup();
});
afterAll(() => rig.close());

function setup(): Promise<LabelRig> {
  return labelRig();
}

const TEXT = 'Content-Type: text/plain';
const CLOSE = 'Connection: close';
const HUGE = 'x'.repeat(5_000);
const ANSWERS = {
  404: '{"error":"not_found"}',
  405: '{"error":"method_not_allowed"}',
  415: '{"error":"unsupported_media_type"}',
  413: '{"error":"payload_too_large"}',
  400: '{"error":"invalid_request"}',
} as const;

type Case = [
  what: string,
  status: keyof typeof ANSWERS,
  line: string,
  headers?: string[],
  body?: string | Buffer,
];

async function expectRefusal(...[, status, line, headers, body]: Case): Promise<void> {
  const answer = await rig.request(line, headers, body);
  expect(answer.journal).toEqual(['write']);
  expect(answer.status).toBe(status);
  expect(answer.body).toBe(line.startsWith('HEAD') ? '' : ANSWERS[status]);
  expect(answer.values('Content-Type')).toEqual(['application/json']);
  expect(answer.values('Allow')).toEqual(status === 405 ? ['POST'] : []);
  expect(answer.values('X-Powered-By')).toEqual([]);
  expect(rig.store.records.size).toBe(0);
}

describe('the path is looked at first', () => {
  test.each<Case>([
    ['GET of another path', 404, 'GET /other'],
    ['another path with all else wrong', 404, 'PUT /other', [TEXT], HUGE],
    ['another path with all else right', 404, 'POST /other', [JSON_TYPE, KEY], BODY],
    ['the root', 404, 'POST /', [JSON_TYPE, KEY], BODY],
    ['another case', 404, 'POST /Labels', [JSON_TYPE, KEY], BODY],
    ['a slash at the end', 404, 'POST /labels/', [JSON_TYPE, KEY], BODY],
    ['two slashes', 404, 'POST //labels', [JSON_TYPE, KEY], BODY],
    ['an escaped letter', 404, 'POST /%6cabels', [JSON_TYPE, KEY], BODY],
    ['a longer name', 404, 'POST /labelsmith', [JSON_TYPE, KEY], BODY],
    ['a malformed escape', 404, 'POST /labels/%', [JSON_TYPE, KEY], BODY],
    ['a label, with a method that makes', 404, 'POST /labels/label-901', [JSON_TYPE, KEY], BODY],
  ])('%s', expectRefusal);
});

describe('then the method', () => {
  test.each<Case>([
    ['GET', 405, 'GET /labels', []],
    ['HEAD', 405, 'HEAD /labels', [CLOSE]],
    ['OPTIONS', 405, 'OPTIONS /labels', []],
    ['PUT with all else wrong', 405, 'PUT /labels', [TEXT], HUGE],
    ['PUT with all else right', 405, 'PUT /labels', [JSON_TYPE, KEY], BODY],
    ['DELETE', 405, 'DELETE /labels', []],
    ['PATCH', 405, 'PATCH /labels', [JSON_TYPE, KEY], BODY],
    ['a method of WebDAV', 405, 'PROPFIND /labels', []],
    ['with a query', 405, 'GET /labels?method=POST', []],
  ])('%s', expectRefusal);
});

describe('then the media type', () => {
  const post = 'POST /labels';
  test.each<Case>([
    ['none', 415, post, [KEY], BODY],
    ['none, and a body that is too large', 415, post, [KEY], HUGE],
    ['text', 415, post, [TEXT, KEY], BODY],
    ['text, and all after it wrong', 415, post, [TEXT], HUGE],
    ['a form', 415, post, ['Content-Type: application/x-www-form-urlencoded', KEY], BODY],
    ['a relative of JSON', 415, post, ['Content-Type: application/problem+json', KEY], BODY],
    ['a longer name', 415, post, ['Content-Type: application/json5', KEY], BODY],
    ['no separator', 415, post, ['Content-Type: application/json charset=utf-8', KEY], BODY],
    ['two of them', 415, post, ['Content-Type: application/json, text/plain', KEY], BODY],
    ['two lines', 415, post, [JSON_TYPE, TEXT, KEY], BODY],
    ['gzip', 415, post, [JSON_TYPE, 'Content-Encoding: gzip', KEY], gzipSync(BODY)],
    ['gzip that is too large', 415, post, [JSON_TYPE, 'Content-Encoding: gzip', KEY], HUGE],
  ])('%s', expectRefusal);
});

describe('then the size', () => {
  const post = 'POST /labels';
  const padded = (bytes: number) => BODY.padEnd(bytes, ' ');
  test.each<Case>([
    ['a byte too many', 413, post, [JSON_TYPE, KEY], padded(4097)],
    ['a body that is not JSON', 413, post, [JSON_TYPE, KEY], HUGE],
    ['without a key', 413, post, [JSON_TYPE], HUGE],
  ])('%s', expectRefusal);

  test('counts what comes in chunks', async () => {
    const head = ['POST /labels HTTP/1.1', 'Host: labels', JSON_TYPE, KEY, CLOSE];
    const chunked = [...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n');
    const send = (bytes: number) =>
      exchange(rig.port, [chunked, `${bytes.toString(16)}\r\n${padded(bytes)}\r\n0\r\n\r\n`]);
    expect((await send(4097)).body).toBe(ANSWERS[413]);
    expect((await send(4096)).status).toBe(201);
    rig.store.records.clear();
  });

  test('counts bytes, not characters', async () => {
    const body = 'й'.repeat(2_049);
    await expectRefusal('', 413, post, [JSON_TYPE, KEY], body);
  });

  test('answers before the client has sent all', async () => {
    const length = 'Content-Length: 1000000';
    const head = ['POST /labels HTTP/1.1', 'Host: labels', JSON_TYPE, KEY, length, '', ''];
    const answer = await exchange(rig.port, [head.join('\r\n'), HUGE]);
    expect(answer.body).toBe(ANSWERS[413]);
  });

  test('lets the largest body pass', async () => {
    const answer = await rig.request(post, [JSON_TYPE, KEY], padded(4096));
    expect(answer.status).toBe(201);
    rig.store.records.clear();
  });
});

describe('then the body and the key', () => {
  const post = 'POST /labels';
  test.each<Case>([
    ['no body', 400, post, [JSON_TYPE, KEY]],
    ['not JSON', 400, post, [JSON_TYPE, KEY], 'x'],
    ['a second value', 400, post, [JSON_TYPE, KEY], `${BODY}${BODY}`],
    ['a number for an id', 400, post, [JSON_TYPE, KEY], BODY.replace('"parcel-42"', '42')],
    ['a name twice', 400, post, [JSON_TYPE, KEY], BODY.replace('}', ',"parcel_id":"p"}')],
    ['a byte order mark', 400, post, [JSON_TYPE, KEY], `\ufeff${BODY}`],
    ['no key', 400, post, [JSON_TYPE], BODY],
    ['an empty key', 400, post, [JSON_TYPE, 'Idempotency-Key:'], BODY],
    ['another key', 400, post, [JSON_TYPE, 'Idempotency-Key: label-req-8'], BODY],
    ['a key in another case', 400, post, [JSON_TYPE, 'Idempotency-Key: Label-Req-7'], BODY],
    ['a quoted key', 400, post, [JSON_TYPE, 'Idempotency-Key: "label-req-7"'], BODY],
    ['the key twice', 400, post, [JSON_TYPE, KEY, KEY], BODY],
    ['two keys', 400, post, [JSON_TYPE, KEY, 'Idempotency-Key: other'], BODY],
    ['two keys in one line', 400, post, [JSON_TYPE, `${KEY}, label-req-7`], BODY],
  ])('%s', expectRefusal);
});

describe('a request passes', () => {
  test.each([
    ['a charset', 'POST /labels', 'Content-Type: application/json; charset=utf-8'],
    ['parameters with no space', 'POST /labels', 'Content-Type: application/json;v=1;charset=x'],
    ['a type in capitals', 'POST /labels', 'CONTENT-TYPE: Application/JSON'],
    ['a query', 'POST /labels?source=mail', JSON_TYPE],
    ['an absolute address', 'POST http://labels/labels', JSON_TYPE],
  ])('with %s', async (_what, line, type) => {
    const answer = await rig.request(line, [type, KEY, 'Content-Encoding: identity'], BODY);
    expect(answer.status).toBe(201);
    rig.store.records.clear();
  });
});

test('nothing is called before a body that comes slowly is whole', async () => {
  const request = rawRequest('POST /labels', [JSON_TYPE, KEY], BODY).toString();
  await rig.request('GET /other');
  async function* slowly() {
    for (const part of [request.slice(0, -20), request.slice(-20, -1), request.slice(-1)]) {
      expect(rig.journal()).toEqual(['write']);
      yield part;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  const answer = await exchange(rig.port, slowly());
  expect(answer.status).toBe(201);
  expect(rig.journal()).toEqual(['write', 'claim', 'admit', 'create', 'complete', 'write']);
  rig.store.records.clear();
});

test('a client that goes away in the middle of its body has asked for nothing', async () => {
  const request = rawRequest('POST /labels', [JSON_TYPE, KEY], BODY).toString();
  await rig.request('GET /other');
  const socket = connect(rig.port, '127.0.0.1');
  await new Promise((resolve) => socket.write(request.slice(0, -5), resolve));
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(rig.journal()).not.toContain('claim');
  expect(rig.errors).toEqual([]);
});

import { buildLabelRequest } from '../../src/labels/label-request.ts';

function setup() {
  const operation = { request_id: 'label-req-7', parcel_id: 'parcel-42' };
  return { operation, baseUrl: 'https://api.example.com' };
}

const BODY = '{"request_id":"label-req-7","parcel_id":"parcel-42"}';

describe('every attempt at an operation', () => {
  test('sends the same method, address, key and body bytes', async () => {
    const { operation, baseUrl } = setup();
    const attempts = [1, 2, 3].map(() => buildLabelRequest(operation, { baseUrl }));
    expect(new Set(attempts).size).toBe(3);
    for (const request of attempts) {
      expect(request.method).toBe('POST');
      expect(request.url).toBe('https://api.example.com/labels');
      expect([...request.headers]).toEqual([
        ['content-type', 'application/json'],
        ['idempotency-key', 'label-req-7'],
      ]);
      expect(await request.text()).toBe(BODY);
    }
  });

  test('sends the two ids and nothing else, in one order', async () => {
    const { baseUrl } = setup();
    const stored = { note: 'mine', parcel_id: 'parcel-42', request_id: 'label-req-7' };
    expect(await buildLabelRequest(stored, { baseUrl }).text()).toBe(BODY);
  });

  test.each([
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/labels'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000/labels'],
    ['https://api.example.com/v1', 'https://api.example.com/v1/labels'],
    ['https://api.example.com/v1/', 'https://api.example.com/v1/labels'],
  ])('goes to /labels under %s', (baseUrl, url) => {
    const { operation } = setup();
    expect(buildLabelRequest(operation, { baseUrl }).url).toBe(url);
    expect(buildLabelRequest(operation, { baseUrl: new URL(baseUrl) }).url).toBe(url);
  });

  test('can be called off', () => {
    const { operation, baseUrl } = setup();
    const caller = new AbortController();
    const { signal } = buildLabelRequest(operation, { baseUrl, signal: caller.signal });
    expect(signal.aborted).toBe(false);
    caller.abort();
    expect(signal.aborted).toBe(true);
  });
});

test.each([
  ['an empty request id', { request_id: '', parcel_id: 'parcel-42' }],
  ['a line feed in an id', { request_id: 'label\nreq', parcel_id: 'parcel-42' }],
  ['no parcel id', { request_id: 'label-req-7' }],
])('an operation that the service would refuse is not sent: %s', (_what, operation) => {
  const { baseUrl } = setup();
  const build = () => buildLabelRequest(operation as never, { baseUrl });
  expect(build).toThrow(TypeError);
  expect(build).toThrow('Expected an operation whose request_id and parcel_id are');
  expect(build).not.toThrow(/label\nreq/);
});

import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { type NodeResponse, prepareForMethods } from '../../src/express/node-response.ts';

/** What the hold reads and writes of a response: own, plain data from its birth. */
const FIELDS: readonly (keyof NodeResponse)[] = [
  'finished',
  'destroyed',
  '_closed',
  '_header',
  '_contentLength',
  '_hasBody',
  '_last',
  '_defaultKeepAlive',
  '_removedConnection',
  '_removedContLen',
  '_removedTE',
  '_sent100',
  '_trailer',
  'chunkedEncoding',
  'outputSize',
  'sendDate',
  'shouldKeepAlive',
  'strictContentLength',
];

/** What `writeHead` may change, and the hold puts back. */
const CHANGED_BY_WRITE_HEAD = [
  '_contentLength',
  '_defaultKeepAlive',
  '_hasBody',
  '_header',
  '_last',
  '_removedConnection',
  '_removedContLen',
  '_removedTE',
  'chunkedEncoding',
  'shouldKeepAlive',
  'statusCode',
  'statusMessage',
];

function setup(version = '1.1') {
  const req = new IncomingMessage(new Socket());
  req.httpVersionMajor = 1;
  req.httpVersionMinor = version === '1.1' ? 1 : 0;
  req.method = 'POST';
  const res = new ServerResponse(req) as unknown as NodeResponse & Record<string, unknown>;
  return { res };
}

/** Each argument of `_writeRaw`, while `act` uses the response. */
function rawOf(act: (res: ServerResponse) => void): unknown[] {
  const { res } = setup();
  const raw: unknown[] = [];
  res._writeRaw = (data) => {
    raw.push(data);
    return true;
  };
  act(res as unknown as ServerResponse);
  return raw;
}

function ownFields(res: object): Map<PropertyKey, unknown> {
  return new Map(Reflect.ownKeys(res).map((key) => [key, Reflect.get(res, key)]));
}

test('a new response has every field of the hold as plain data of its own', () => {
  const { res } = setup();
  const plain = FIELDS.filter((name) => {
    const property = Object.getOwnPropertyDescriptor(res, name);
    return property !== undefined && 'value' in property && property.writable;
  });
  expect(plain).toEqual(FIELDS);
  expect([res._header, res._contentLength, res.outputSize]).toEqual([null, null, 0]);
});

test('headersSent follows _header, and late changes are refused while it is there', () => {
  const { res } = setup();
  expect((res as unknown as ServerResponse).headersSent).toBe(false);
  res._header = 'HTTP/1.1 200 OK\r\n\r\n';
  expect((res as unknown as ServerResponse).headersSent).toBe(true);
  const late = [
    () => res.setHeader('a', '1'),
    () => res.appendHeader('a', '1'),
    () => res.removeHeader('a'),
    () => res.writeHead(200),
  ];
  for (const change of late) {
    expect(change).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }));
  }
});

test('writableEnded follows finished; writableFinished waits for outputSize', () => {
  const { res } = setup();
  res.finished = true;
  res.outputSize = 1;
  expect((res as unknown as ServerResponse).writableEnded).toBe(true);
  expect(res.writableFinished).toBe(false);
});

test.each<[string, string, unknown[]]>([
  ['headers as an object', '1.1', [201, { 'Content-Length': '3', Connection: 'close' }]],
  ['headers as a list', '1.1', [201, 'Made', ['Transfer-Encoding', 'chunked', 'A', 'b']]],
  ['no headers', '1.1', [404]],
  ['a status without a body', '1.1', [204]],
  ['HTTP/1.0', '1.0', [200]],
])('writeHead with %s under %s changes no field that the hold does not put back', (_, v, args) => {
  const { res } = setup(v);
  res.setHeader('X-Before', '1');
  const before = ownFields(res);
  res.writeHead(...args);
  const changed = [...ownFields(res)]
    .filter(([key, value]) => before.get(key) !== value || !before.has(key))
    .map(([key]) => key)
    .filter((key) => typeof key === 'string' && !CHANGED_BY_WRITE_HEAD.includes(key));
  expect(changed).toEqual([]);
});

test('a head that was put back is built again, the same', () => {
  const { res } = setup();
  res.setHeader('X-A', ['1', '2']);
  res.writeHead(201);
  const built = res._header;
  res._header = null;
  res.writeHead(201);
  expect(res._header).toBe(built);
});

test('the header map is lower-case name to name and value, under one symbol', () => {
  const { res } = setup();
  const symbols = Object.getOwnPropertySymbols(res);
  const [symbol, ...others] = symbols.filter((each) => each.description === 'kOutHeaders');
  expect([symbol === undefined, others]).toEqual([false, []]);
  res.setHeader('X-A', ['1', '2']);
  res.appendHeader('X-B', '3');
  res.appendHeader('x-b', '4');
  const map = Reflect.get(res, symbol as symbol) as object;
  expect({ ...map }).toEqual({ 'x-a': ['X-A', ['1', '2']], 'x-b': ['X-B', ['3', '4']] });
});

test('headers given to writeHead join the map only if one was set before', () => {
  const withMap = setup().res;
  withMap.setHeader('X-A', '1');
  withMap.writeHead(200, { 'X-B': '2' });
  expect(withMap.getHeaderNames()).toEqual(['x-a', 'x-b']);
  const without = setup().res;
  without.writeHead(200, { 'X-B': '2' });
  expect([without.getHeaderNames(), without._header?.includes('X-B: 2')]).toEqual([[], true]);
});

test('write and end build the head through writeHead, by name', () => {
  const heads: unknown[][] = [];
  for (const act of ['write', 'end'] as const) {
    const { res } = setup();
    res._writeRaw = () => true;
    const { writeHead } = res;
    res.writeHead = (...args) => {
      heads.push(args);
      return writeHead.apply(res, args);
    };
    res[act]('ok');
  }
  expect(heads).toEqual([[200], [200]]);
});

test('every byte of a response passes _writeRaw', () => {
  const texts = rawOf((res) => res.end('ok'));
  expect(texts.join('')).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
  const chunks = rawOf((res) => {
    res.write('a');
    res.end('b');
  });
  expect(chunks.join('')).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n$/,
  );
  const buffers = rawOf((res) => res.end(Buffer.from('ok')));
  expect(Buffer.concat(buffers.map((each) => Buffer.from(each as string))).toString()).toMatch(
    /ok$/,
  );
});

test('flushHeaders and a header named Expect pass the head itself to _writeRaw', () => {
  let head: unknown;
  const flushed = rawOf((res) => {
    res.flushHeaders();
    head = (res as unknown as NodeResponse)._header;
  });
  expect(flushed).toEqual([head]);
  const expecting = rawOf((res) => {
    res.setHeader('Expect', 'x');
    res.writeHead(200);
    head = (res as unknown as NodeResponse)._header;
  });
  expect(expecting).toEqual([head]);
});

test('informational answers pass _writeRaw as text that begins with their status line', () => {
  const raw = rawOf((res) => {
    res.writeContinue();
    res.writeProcessing();
    res.writeEarlyHints({ link: '</a>; rel=preload' });
  });
  expect(raw.map((each) => String(each).slice(0, 12))).toEqual([
    'HTTP/1.1 100',
    'HTTP/1.1 102',
    'HTTP/1.1 103',
  ]);
});

test('a connection that closes sets destroyed and _closed before it emits close', async () => {
  const seen = await new Promise<unknown[]>((resolve) => {
    const listener: RequestListener = (_req, res) => {
      const { emit } = res;
      res.emit = function (this: ServerResponse, ...args: unknown[]) {
        const { destroyed, _closed } = res as unknown as NodeResponse;
        if (args[0] === 'close') resolve([destroyed, _closed, res.writableFinished]);
        return Reflect.apply(emit, this, args) as boolean;
      } as typeof res.emit;
      res.socket?.destroy();
    };
    const server = createServer(listener).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.on('close', () => server.close());
      socket.write('POST / HTTP/1.1\r\nHost: a\r\n\r\n');
    });
  });
  expect(seen).toEqual([true, true, false]);
});

test('a response in dictionary mode, as before Node 24, has the same fields', () => {
  const { res } = setup();
  const before = ownFields(res);
  prepareForMethods(res, 22);
  expect(new Set(ownFields(res))).toEqual(new Set(before));
  expect(Reflect.ownKeys(res).at(-1)).not.toBe('_sent100');
  const names = Object.keys(res);
  expect(names.at(-1)).toBe('_sent100');
  prepareForMethods(setup().res, 24);
});

test('destroy of a response destroys its socket', () => {
  const { res } = setup();
  const socket = new Socket();
  (res as unknown as ServerResponse).assignSocket(socket);
  res.destroy();
  expect([res.destroyed, socket.destroyed]).toEqual([true, true]);
});

// The client, in a process of its own: keep-alive connections to this machine, one request after
// the other on each. It reads no more of HTTP than it must, so that the server is what is measured;
// yet every answer is held to the status and the length of the first one.
import { connect } from 'node:net';

const STATUS = 'HTTP/1.1 201';
const GRACE_MS = 10_000;
const BODY = JSON.stringify({
  request_id: 'label-req-7',
  parcel_id: 'parcel-4711',
  weight_g: 1250,
  insured: true,
  to: { name: 'Ada Lovelace', street: '12 St James Square', city: 'London', country: 'GB' },
  items: [{ sku: 'A-1', count: 2 }],
});

process.on('message', (order) => {
  load(order).then(
    (result) => process.send(result),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));

/**
 * Sends for `seconds`, at most `maxRequests`. `keys` is `new` or `one`; `name` makes the keys of
 * one order differ from those of every other.
 */
async function load({ port, keys, name, connections, seconds, maxRequests }) {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  const order = { port, keys, name, sent: 0, done: 0, maxRequests: 1, length: undefined };
  order.endMs = Date.now() + seconds * 1000;
  // Alone, so that the one key of a case of replays is completed before its retries come.
  await oneConnection(order);
  order.maxRequests = maxRequests;
  await Promise.all(Array.from({ length: connections }, () => oneConnection(order)));
  const { user, system } = process.cpuUsage(cpu);
  const passed = Number(process.hrtime.bigint() - start) / 1e9;
  return { requests: order.done, seconds: passed, cpuUs: user + system };
}

function oneConnection(order) {
  return new Promise((resolve, reject) => {
    const socket = connect(order.port, '127.0.0.1');
    const latest = setTimeout(fail, order.endMs + GRACE_MS - Date.now(), 'no answer in time');
    let received = 0;
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.on('close', () => fail('the server closed a connection'));
    socket.on('connect', next);
    socket.on('data', (bytes) => {
      const isFirst = received === 0;
      received += bytes.length;
      if (isFirst) {
        if (bytes.latin1Slice(0, STATUS.length) !== STATUS) return fail(firstLine(bytes));
        order.length ??= lengthOf(bytes);
      }
      if (received < order.length) return;
      if (received > order.length) return fail('an answer was longer than the first one');
      received = 0;
      order.done += 1;
      next();
    });

    function next() {
      if (order.sent < order.maxRequests && Date.now() < order.endMs) socket.write(request(order));
      else finish(resolve);
    }

    function fail(why) {
      finish(reject, new Error(why));
    }

    function finish(settle, value) {
      clearTimeout(latest);
      settle(value);
      socket.destroy();
    }
  });
}

function request(order) {
  order.sent += 1;
  const number = order.keys === 'new' ? order.sent : 1;
  const key = `${order.name}-${String(number).padStart(30, '0')}`;
  return (
    'POST /labels HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nUser-Agent: bench\r\n' +
    `Content-Type: application/json\r\nIdempotency-Key: ${key}\r\n` +
    `Content-Length: ${BODY.length}\r\n\r\n${BODY}`
  );
}

function lengthOf(bytes) {
  const head = bytes.latin1Slice(0, bytes.indexOf('\r\n\r\n') + 4);
  return head.length + Number(/\r\ncontent-length: (\d+)/i.exec(head)[1]);
}

function firstLine(bytes) {
  return `expected ${STATUS}, got ${bytes.latin1Slice(0, 200).split('\r\n')[0]}`;
}

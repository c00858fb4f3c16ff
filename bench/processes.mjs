// The processes of a bench, and the questions that it asks them.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { join } from 'node:path';
import { CASES } from './cases.mjs';

const CONNECTIONS = 16;
const MAX_REQUESTS = 900_000;
const HERE = import.meta.dirname;

/** The server of one case, on one Node, from one build. */
export async function startServer({ name, node, build }) {
  const child = fork(join(HERE, 'server.mjs'), [name, build], {
    execPath: node,
    execArgv: [],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const end = ended(child, `server of ${name}`);
  const [started] = await Promise.race([once(child, 'message'), end]);
  return {
    ...started,
    ask: (path) => ask(started.controlPort, path),
    stop: () => stop(child),
  };
}

export async function startClient() {
  const child = fork(join(HERE, 'client.mjs'), { execArgv: [] });
  const end = ended(child, 'client');
  end.catch(() => {});
  return {
    async load(order) {
      child.send({ connections: CONNECTIONS, maxRequests: MAX_REQUESTS, ...order });
      const [result] = await Promise.race([once(child, 'message'), end]);
      if (result.error) throw new Error(`The client gave up: ${result.error}.`);
      return result;
    },
    stop: () => stop(child),
  };
}

let orders = 0;

/**
 * Loads one server for `seconds`: what a request cost it, and how many it answered. Fails when the
 * handler did not run as often as the case says, since then something else was measured.
 */
export async function measure(server, client, name, seconds) {
  const { keys } = CASES[name];
  orders += 1;
  await server.ask('/begin');
  const before = await server.ask('/usage');
  const load = await client.load({ port: server.port, keys, seconds, name: `k${orders}` });
  const after = await server.ask('/usage');
  checkRuns(name, after.runs, load.requests);
  const cpuUs = after.cpuUs - before.cpuUs;
  return {
    requests: load.requests,
    perSecond: load.requests / load.seconds,
    cpuUs: cpuUs / load.requests,
    kernelUs: (after.kernelUs - before.kernelUs) / load.requests,
    busy: cpuUs / 1e6 / load.seconds,
    clientBusy: load.cpuUs / 1e6 / load.seconds,
  };
}

function checkRuns(name, runs, requests) {
  if (requests === 0) throw new Error(`No request was answered in ${name}.`);
  if (runs === (CASES[name].keys === 'one' ? 1 : requests)) return;
  throw new Error(`The handler of ${name} ran ${runs} times for ${requests} requests.`);
}

async function ended(child, what) {
  const [code, signal] = await once(child, 'exit');
  throw new Error(`The ${what} ended before its time, with ${signal ?? code}.`);
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.disconnect();
  await exit;
}

function ask(port, path) {
  return new Promise((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port, path, agent: false }, async (res) => {
      let text = '';
      for await (const part of res.setEncoding('utf8')) text += part;
      if (res.statusCode === 200) resolve(JSON.parse(text));
      else reject(new Error(text));
    });
    asked.on('error', reject);
  });
}

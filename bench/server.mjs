// The process that is measured: one case, on a port of its own, and a second port on which it says
// what it has used. Started with: the case, the folder of the build.
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import { application } from './cases.mjs';

const [name, build] = process.argv.slice(2);
const { app, begin, end, runs } = application(name, build);
let session;

const CONTROL = {
  '/begin': begin,
  '/usage': async () => {
    const { user, system } = process.cpuUsage();
    return { cpuUs: user + system, kernelUs: system, runs: runs() };
  },
  '/profile': async () => {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 200 });
    await session.post('Profiler.start');
  },
  '/profiled': async () => (await session.post('Profiler.stop')).profile,
};

await begin();
const port = await listening(createServer(app));
const controlPort = await listening(createServer(control));
process.send({ port, controlPort, version: process.version });
// Whatever ends the bench ends its servers.
process.on('disconnect', () => end().finally(() => process.exit(0)));

function control(req, res) {
  CONTROL[req.url]().then(
    (answer) => res.end(JSON.stringify(answer ?? {})),
    (error) => res.writeHead(500).end(String(error?.stack)),
  );
}

function listening(server) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}

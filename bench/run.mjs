// `npm run bench`: what the middleware costs, as ratios to the bare handler; docs/benchmarks.md
// says how to read them. All servers of one Node run side by side and are loaded in turn.
import { existsSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CASES } from './cases.mjs';
import { measure, startClient, startServer } from './processes.mjs';
import { printProfile, profile } from './profile.mjs';
import { report } from './report.mjs';
import { benchStores } from './stores/bench.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const NODES = join(ROOT, '__tests__/nodes/node_modules');
const USAGE = `npm run bench -- [options]
  --quick            fewer and shorter rounds: half a minute for one Node
  --node <which>     20, 22, 24, 26 or the path of a Node; may be repeated
  --all-nodes        every Node that is installed (npm run test:set-up)
  --sqlite           also the durable store, for information
  --build <folder>   the build that is measured; default: dist
  --against <folder> also the cases of another build, such as one of the last release
  --rounds <number>  --seconds <of one load>  --warm-up <seconds>
  --only <case>      may be repeated: ${Object.keys(CASES).join(', ')}
  --profile          no ratios, but the functions in which each case spends its time
  --store <which>    instead: a store beside its raw driver; may be repeated:
                     sqlite, postgres, mysql, redis
  --concurrency <n>  with --store: calls at a time; default: 1,16,256
  --million          with --store: also with a million records beside a few`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    node: { type: 'string', multiple: true },
    'all-nodes': { type: 'boolean' },
    sqlite: { type: 'boolean' },
    build: { type: 'string' },
    against: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    'warm-up': { type: 'string' },
    only: { type: 'string', multiple: true },
    profile: { type: 'boolean' },
    store: { type: 'string', multiple: true },
    concurrency: { type: 'string' },
    million: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

const ROUNDS = Number(options.rounds ?? (options.quick ? 3 : 9));
const SECONDS = Number(options.seconds ?? (options.quick ? 1 : 2));
const WARM_UP_SECONDS = Number(options['warm-up'] ?? 5);
const ownBuild = resolve(options.build ?? join(ROOT, 'dist'));

if (options.help) console.log(USAGE);
else if (options.store) {
  console.log(`${machine()}; Node ${process.version}`);
  await benchStores(options.store, {
    concurrencies: (options.concurrency ?? '1,16,256').split(',').map(Number),
    rounds: ROUNDS,
    seconds: Number(options.seconds ?? (options.quick ? 0.5 : 2)),
    million: options.million,
  });
} else await bench();

async function bench() {
  const client = await startClient();
  console.log(machine());
  try {
    for (const node of nodes()) await benchOn(node, client);
  } finally {
    await client.stop();
  }
}

/** One Node: every case is warmed, then they are loaded in turn, round by round. */
async function benchOn(node, client) {
  const runners = [];
  try {
    for (const { name, build } of cases()) {
      const server = await startServer({ name, node, build });
      const title = CASES[name].title + (build === ownBuild ? '' : ' (the other build)');
      runners.push({ name, title, server, samples: [] });
      await measure(server, client, name, WARM_UP_SECONDS);
    }
    const { version } = runners[0].server;
    if (options.profile) {
      for (const runner of runners) printProfile(version, runner, await profile(runner, client));
      return;
    }
    for (let round = 0; round < ROUNDS; round += 1) await loadAll(runners, client, round);
    const plan = { rounds: ROUNDS, seconds: SECONDS, warmUpSeconds: WARM_UP_SECONDS };
    console.log(report({ version, runners, ...plan }));
  } finally {
    await Promise.all(runners.map(({ server }) => server.stop()));
  }
}

/** There and back, so that a machine that grows slower favours nobody. */
async function loadAll(runners, client, round) {
  for (const { name, server, samples } of round % 2 === 0 ? runners : runners.toReversed()) {
    samples.push(await measure(server, client, name, SECONDS));
  }
}

/** What runs, in order: the bare handler is always first, since all ratios are to it. */
function cases() {
  const isPeerThere = existsSync(join(import.meta.dirname, 'node_modules/express-idempotency'));
  if (!isPeerThere) console.log('Without the peer: `npm ci --prefix bench` installs it.');
  const usual = ['bare', 'new', 'replay', ...(isPeerThere ? ['peer'] : [])];
  const names = options.only ?? [...usual, ...(options.sqlite ? ['sqlite', 'sqlite-replay'] : [])];
  const own = ['bare', ...names.filter((name) => name !== 'bare')];
  const others = options.against ? own.filter((name) => name !== 'bare' && name !== 'peer') : [];
  const build = resolve(options.against ?? '');
  return [
    ...own.map((name) => ({ name, build: ownBuild })),
    ...others.map((name) => ({ name, build })),
  ];
}

function nodes() {
  const installed = {
    20: join(NODES, 'node-20/bin/node'),
    22: join(NODES, 'node-22/bin/node'),
    24: process.execPath,
    26: join(NODES, 'node-26/bin/node'),
  };
  const wanted = options['all-nodes']
    ? Object.values(installed).filter((path) => existsSync(path))
    : (options.node ?? ['24']).map((which) => resolve(installed[which] ?? which));
  const missing = wanted.filter((path) => !existsSync(path));
  if (missing.length === 0) return wanted;
  throw new Error(`There is no Node at ${missing.join(', ')}. npm run test:set-up installs some.`);
}

function machine() {
  const [{ model }, ...others] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const load = loadavg().map((one) => one.toFixed(1));
  return (
    `${others.length + 1} x ${model.trim()}, ${gigabytes} GiB, ${process.platform} ${release()}; ` +
    `load averages at the start: ${load.join(', ')}`
  );
}

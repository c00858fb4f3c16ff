import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

export const NODES = join(ROOT, '__tests__/nodes');
export const DRIVERS = join(ROOT, '__tests__/databases');
export const CONSUMER_MANIFESTS = join(ROOT, '__tests__/package/consumers');
export const CONSUMERS = join(ROOT, '.temp/consumers');

const HERE = { path: process.execPath, version: process.version };

/**
 * jest's arguments for the tests whose outcome depends on the Node they run on: not house rules,
 * examples, all orders of steps, killed processes and the packed package, and no servers. They
 * stand in for jest's own list.
 */
export const ON_ANY_NODE = [
  '/node_modules/',
  '__tests__/tidy/',
  '__tests__/docs/',
  '__tests__/schedules/',
  '__tests__/chaos/',
  '__tests__/labels/(carrier|killed-points)\\.',
  '__tests__/package/',
  '__tests__/databases/(chaos|labels|mysql|postgres|redis)/',
].flatMap((pattern) => ['--testPathIgnorePatterns', pattern]);

/**
 * What `npm test` runs, in order: a name in plain words, the Node that runs jest, and jest's
 * arguments. Only what has been set up is there; {@link missing} names the rest.
 */
export function suites() {
  return [
    { name: `all tests on Node ${HERE.version}`, node: HERE, args: [] },
    ...otherNodes()
      .filter(isInstalled)
      .map((node) => ({
        name: `all tests on Node ${node.version}`,
        node,
        args: ON_ANY_NODE,
      })),
    {
      name: 'the packed package',
      node: HERE,
      args: [
        '--config=__tests__/package/jest.config.json',
        ...(consumersReady() ? [] : ['--testPathIgnorePatterns', 'consumer']),
      ],
    },
    ...(serversReady()
      ? [
          {
            name: 'the stores on real servers, which the tests start and kill',
            node: HERE,
            args: ['--config=__tests__/databases/jest.config.json'],
          },
        ]
      : []),
  ];
}

/** What is not run, in plain words. */
export function missing() {
  return [
    ...otherNodes()
      .filter((node) => !isInstalled(node))
      .map(({ version }) => `all tests on Node ${version}`),
    ...(driversReady() ? [] : ['the SQLite store on better-sqlite3 12 and 13']),
    ...(consumersReady() ? [] : ['the packed package in projects with Express 4 and 5']),
    ...(serversReady()
      ? []
      : [`the stores on real servers (they also need: apt-get install ${SERVER_PACKAGES})`]),
  ];
}

/** The Nodes that `__tests__/nodes/package.json` pins, installed or not. */
function otherNodes() {
  const { dependencies } = JSON.parse(readFileSync(join(NODES, 'package.json'), 'utf8'));
  return Object.entries(dependencies).map(([name, specifier]) => ({
    path: join(NODES, 'node_modules', name, 'bin/node'),
    version: specifier.replace('npm:node@', 'v'),
  }));
}

function isInstalled(node) {
  return existsSync(node.path);
}

/** better-sqlite3 is built for one Node each; without it the store runs on `node:sqlite` only. */
function driversReady() {
  return existsSync(join(DRIVERS, 'node_modules'));
}

/** Debian's packages, and a place that each of them brings. */
const SERVERS = {
  postgresql: '/usr/lib/postgresql',
  pgbouncer: '/usr/sbin/pgbouncer',
  'mariadb-server': '/usr/sbin/mariadbd',
  'redis-server': '/usr/bin/redis-server',
};
const SERVER_PACKAGES = Object.keys(SERVERS).join(' ');

/** Each test of them starts what it needs, and fails when that is not there. */
function serversReady() {
  return driversReady() && Object.values(SERVERS).every((path) => existsSync(path));
}

/** The projects are installed, from the very manifests that the repository holds. */
export function consumersReady() {
  return consumers().every((name) => {
    const installed = join(CONSUMERS, name, 'package.json');
    const asked = readFileSync(join(CONSUMER_MANIFESTS, name, 'package.json'), 'utf8');
    return existsSync(installed) && readFileSync(installed, 'utf8') === asked;
  });
}

/** The names of the projects that the packed package is tried in, and of their compilers. */
export function consumers() {
  return readdirSync(CONSUMER_MANIFESTS).filter((name) =>
    existsSync(join(CONSUMER_MANIFESTS, name, 'package.json')),
  );
}

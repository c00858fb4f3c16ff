import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

export const NODES = join(ROOT, '__tests__/nodes');
export const DRIVERS = join(ROOT, '__tests__/databases');
export const CONSUMERS = join(ROOT, '.temp/consumers');

const HERE = { path: process.execPath, version: process.version };

/** House rules and examples say the same on every Node: they run on the first leg only. */
const ONCE = ['/node_modules/', '__tests__/tidy/', '__tests__/docs/', '__tests__/package/'];

/**
 * Everything that `npm test` runs, in order: a name in plain words, the Node that runs jest, and
 * jest's arguments. `ready` says whether what it needs has been installed; what is not ready is
 * named at the end, with the command that installs it.
 */
export function suites() {
  return [
    { name: `all tests on Node ${HERE.version}`, node: HERE, args: [], ready: true },
    ...otherNodes().map((node) => ({
      name: `all tests on Node ${node.version}`,
      node,
      args: ONCE.flatMap((pattern) => ['--testPathIgnorePatterns', pattern]),
      ready: existsSync(node.path),
    })),
    {
      name: 'the packed package, installed into other projects',
      node: HERE,
      args: ['--config', '__tests__/package/jest.config.json'],
      ready: existsSync(join(CONSUMERS, 'ready')),
    },
  ];
}

/** better-sqlite3 is built for one Node each; without it SqliteStore runs on `node:sqlite` only. */
export const driversReady = () => existsSync(join(DRIVERS, 'node_modules'));

/** The Nodes that `__tests__/nodes/package.json` pins, installed or not. */
function otherNodes() {
  const { dependencies } = JSON.parse(readFileSync(join(NODES, 'package.json'), 'utf8'));
  return Object.entries(dependencies).map(([name, specifier]) => ({
    path: join(NODES, 'node_modules', name, 'bin/node'),
    version: specifier.replace('npm:node@', 'v'),
  }));
}

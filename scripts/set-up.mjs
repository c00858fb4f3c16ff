// `npm run test:set-up` installs what the root's `npm ci` leaves out, so that it stays quick and
// needs no compiler: other Nodes, SQLite drivers, and projects that use the packed package.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './run.mjs';
import { CONSUMER_MANIFESTS, CONSUMERS, consumers, DRIVERS, NODES } from './suites.mjs';

console.log('Nodes 20, 22 and 26');
run('npm', ['ci'], { cwd: NODES });

console.log('\nDrivers of databases; better-sqlite3 12 is compiled, for Node 20');
// Tests need it to be right, not quick, and to compile it well takes a minute more.
const quickly = { CFLAGS: '-O1', CXXFLAGS: '-O1' };
run('npm', ['ci'], { cwd: DRIVERS, env: { npm_config_nodedir: headersOfNode20(), ...quickly } });

console.log('\nProjects that the packed package is installed into');
rmSync(CONSUMERS, { recursive: true, force: true });
for (const name of consumers()) {
  const cwd = join(CONSUMERS, name);
  mkdirSync(cwd, { recursive: true });
  cpSync(join(ROOT, '.npmrc'), join(cwd, '.npmrc'));
  cpSync(join(CONSUMER_MANIFESTS, name, 'package.json'), join(cwd, 'package.json'));
  run('npm', ['install', '--no-package-lock'], { cwd });
}

console.log('\nReady: `npm test` now runs everything.');

/** npm's scripts run on another Node, whose headers would be taken if these were not named. */
function headersOfNode20() {
  const parts = join(NODES, 'node_modules/node-20/node_modules');
  const platform = readdirSync(parts).find((name) => existsSync(join(parts, name, 'include/node')));
  return join(parts, platform);
}

// `npm run test:set-up` installs what the root's `npm ci` leaves out, so that it stays quick and
// needs no compiler: other Nodes, SQLite drivers, and projects that use the packed package.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './run.mjs';
import { CONSUMERS, DRIVERS, NODES } from './suites.mjs';

const CONSUMER_SOURCES = join(ROOT, '__tests__/package/consumers');

console.log('Nodes 20, 22 and 26');
run('npm', ['ci'], { cwd: NODES });

console.log('\nSQLite drivers, compiled where the registry has no build for this machine');
run('npm', ['ci'], { cwd: DRIVERS });

console.log('\nProjects that the packed package is installed into');
rmSync(CONSUMERS, { recursive: true, force: true });
mkdirSync(CONSUMERS, { recursive: true });
for (const name of readdirSync(CONSUMER_SOURCES)) {
  cpSync(join(CONSUMER_SOURCES, name), join(CONSUMERS, name), { recursive: true });
  if (!existsSync(join(CONSUMERS, name, 'package.json'))) continue;
  run('npm', ['install', '--no-package-lock'], { cwd: join(CONSUMERS, name) });
}
writeFileSync(join(CONSUMERS, 'ready'), '');
console.log('\nReady: `npm test` now runs everything.');

import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from './run.mjs';
import { CONSUMERS, consumersReady } from './suites.mjs';

const PACKED = join(ROOT, '.temp/packed');
const PROGRAMS = join(ROOT, '__tests__/package/consumers/programs');
const PROJECTS = ['express-4', 'express-5'];

/**
 * Runs once before the tests on the packed package: builds and packs it, unpacks it beside its
 * tarball, and installs it, with the programs that use it, into the projects that are set up.
 */
export default function pack() {
  rmSync(PACKED, { recursive: true, force: true });
  mkdirSync(PACKED, { recursive: true });
  run('npm', ['pack', '--silent', '--pack-destination', PACKED]);
  const [tarball] = readdirSync(PACKED).map((name) => join(PACKED, name));
  run('tar', ['-xzf', tarball, '-C', PACKED]);
  if (!consumersReady()) return;
  for (const project of PROJECTS) {
    const cwd = join(CONSUMERS, project);
    const options = ['--no-save', '--no-package-lock', '--prefer-offline', '--silent'];
    run('npm', ['install', ...options, tarball], { cwd });
    cpSync(PROGRAMS, cwd, { recursive: true });
  }
}

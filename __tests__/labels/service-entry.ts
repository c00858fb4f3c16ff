import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const MODULES = {
  express: 'node_modules/express',
  'better-sqlite3': '__tests__/databases/node_modules/better-sqlite3-12',
};

let built: string | undefined;
afterAll(() => {
  if (built !== undefined) rmSync(built, { recursive: true });
});

/** What starts the service on this Node. */
export function serviceEntry(): string {
  if (process.features.typescript) return join(ROOT, 'src/labels/launch.js');
  return programEntry('labels/main.ts');
}

/**
 * What starts a program of `src` on this Node: the source where it runs TypeScript, else what the
 * compiler makes of it, with a driver beside it.
 */
export function programEntry(source: string): string {
  if (process.features.typescript) return join(ROOT, 'src', source);
  built ??= build();
  return join(built, source.replace(/\.ts$/, '.js'));
}

function build(): string {
  const directory = mkdtempSync(join(tmpdir(), 'labels-built-'));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const off = ['declaration', 'declarationMap', 'isolatedDeclarations'];
  const options = ['--noCheck', ...off.flatMap((name) => [`--${name}`, 'false'])];
  execFileSync(process.execPath, [compiler, '-p', ROOT, '--outDir', directory, ...options]);
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  mkdirSync(join(directory, 'node_modules'));
  for (const [name, path] of Object.entries(MODULES)) {
    symlinkSync(join(ROOT, path), join(directory, 'node_modules', name));
  }
  return directory;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder, ROOT, read } from './source-tree.ts';

interface Manifest {
  readonly name: string;
  readonly license: string;
  readonly engines: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly peerDependenciesMeta: Record<string, { readonly optional: boolean }>;
  readonly exports: Record<string, string | Record<string, Record<string, string>>>;
}

function setup() {
  const manifest: Manifest = JSON.parse(read('package.json'));
  const locks = filesUnder('.').filter((path) => path.endsWith('package-lock.json'));
  return { manifest, locks };
}

test('the package brings no other package along', () => {
  const { manifest } = setup();
  expect(manifest.dependencies ?? {}).toEqual({});
  expect('optionalDependencies' in manifest || 'bundleDependencies' in manifest).toBe(false);
});

test('only Express must be there beside it', () => {
  const { manifest } = setup();
  const needed = Object.keys(manifest.peerDependencies).filter(
    (name) => manifest.peerDependenciesMeta[name]?.optional !== true,
  );
  expect(needed).toEqual(['express']);
});

test('what the repository is developed with is pinned to one version each', () => {
  const { manifest } = setup();
  const loose = Object.entries(manifest.devDependencies).filter(
    ([, version]) => !/^(npm:[@\w/.-]+@)?\d+\.\d+\.\d+$/.test(version),
  );
  expect(loose).toEqual([]);
});

test('a lock file names no place that it was downloaded from', () => {
  const { locks } = setup();
  expect(locks).toContain('package-lock.json');
  expect(locks.filter((path) => /"resolved"|https?:\/\/[^"]*\.tgz/.test(read(path)))).toEqual([]);
});

test('every entry of the package is a source file, in both formats and with types for both', () => {
  const { manifest } = setup();
  const entries = Object.entries(manifest.exports).filter(([path]) => path !== './package.json');
  const wrong = entries.filter(([, entry]) => {
    const source = typeof entry === 'string' ? '' : sourceOf(entry['import']?.['default']);
    return !existsSync(join(ROOT, source)) || JSON.stringify(entry) !== expectedEntry(source);
  });
  expect(wrong).toEqual([]);
  expect(entries.map(([path]) => path)).toContain('.');
});

function sourceOf(built: string | undefined): string {
  return (built ?? '').replace('./dist/esm/', 'src/').replace(/\.js$/, '.ts');
}

function expectedEntry(source: string): string {
  const file = source.replace(/^src\//, '').replace(/\.ts$/, '');
  const forms = (format: string) => ({
    types: `./dist/${format}/${file}.d.ts`,
    default: `./dist/${format}/${file}.js`,
  });
  return JSON.stringify({ import: forms('esm'), require: forms('cjs') });
}

test('the licence is MIT, and its text is there', () => {
  const { manifest } = setup();
  expect(manifest.license).toBe('MIT');
  expect(read('LICENSE')).toContain('the express-idempotent authors');
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const PACKED = join(ROOT, '.temp/packed');
/** Half of it are the sources and the maps that lead to them. */
const MAX_PACKED_BYTES = 850_000;

function setup() {
  const folder = join(PACKED, 'package');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return { files, text: (file: string) => readFileSync(join(folder, file), 'utf8') };
}

test('the tarball holds the built files, their sources, the documents, and nothing else', () => {
  const { files } = setup();
  const parts =
    /^(dist|src|docs)\/|^(package\.json|README\.md|LICENSE|(CHANGELOG|CONTRIBUTING)\.md)$/;
  expect(files.filter((file) => !parts.test(file))).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining(['dist/esm/index.js', 'dist/cjs/index.js', 'LICENSE', 'README.md']),
  );
});

test('it holds no test, no data and no file of a machine', () => {
  const { files } = setup();
  expect(files.filter((file) => /__tests__|\.test\.|\.db|\.log$|\.env|\.tgz$/.test(file))).toEqual(
    [],
  );
});

test('no file of it names a path of the machine that built it', () => {
  const { files, text } = setup();
  const telling = files.filter(
    (file) => text(file).includes(ROOT) || /file:\/\/\//.test(text(file)),
  );
  expect(telling).toEqual([]);
});

test('every built file has its types, and a map that leads to a source in the tarball', () => {
  const { files, text } = setup();
  const built = files.filter((file) => /^dist\/.*\.js$/.test(file));
  const poor = built.filter((file) => {
    const { sources } = JSON.parse(text(`${file}.map`));
    const source = join(file, '..', sources[0]);
    return !files.includes(source) || !files.includes(file.replace(/\.js$/, '.d.ts'));
  });
  expect(poor).toEqual([]);
  expect(built.length).toBeGreaterThan(20);
});

test('both formats hold the same files', () => {
  const { files } = setup();
  const of = (format: string) =>
    files.filter((file) => file.startsWith(`dist/${format}/`)).map((file) => file.slice(9));
  expect(of('cjs').filter((file) => file !== 'package.json')).toEqual(of('esm'));
});

test(`it is smaller than ${MAX_PACKED_BYTES} bytes`, () => {
  const [tarball = ''] = readdirSync(PACKED).filter((name) => name.endsWith('.tgz'));
  expect(statSync(join(PACKED, tarball)).size).toBeLessThan(MAX_PACKED_BYTES);
});

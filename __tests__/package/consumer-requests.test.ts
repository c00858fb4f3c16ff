import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const CONSUMERS = join(ROOT, '.temp/consumers');
const NODES = join(ROOT, '__tests__/nodes/node_modules');

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const entries = Object.keys(manifest.exports).filter((path) => path !== './package.json');

const nodes = [
  process.execPath,
  ...readdirSync(NODES)
    .filter((name) => /^node-\d+$/.test(name))
    .map((name) => join(NODES, name, 'bin/node')),
].map((path) => ({
  path,
  version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(),
}));

const cases = nodes.flatMap(({ path, version }) =>
  ['express-4', 'express-5'].flatMap((project) =>
    ['request.mjs', 'request.cjs'].map((program) => ({ path, version, project, program })),
  ),
);

/** What a consumer sees of two equal requests and one with another body, with any store. */
const ONE_RUN = {
  runs: 1,
  answers: [
    [201, '"a", "b"', '{"id":"label-901","run":1,"key":"k"}'],
    [201, '"a", "b"', '{"id":"label-901","run":1,"key":"k"}'],
    [409, null, '{"error":"idempotency_conflict"}'],
  ],
};

function setup({ path, project, program }: { path: string; project: string; program: string }) {
  const cwd = join(CONSUMERS, project);
  return JSON.parse(execFileSync(path, [program], { cwd, encoding: 'utf8', timeout: 120_000 }));
}

test.each(cases)('$program answers requests on $project and Node $version', (one) => {
  const seen = setup(one);
  expect(seen.entries).toEqual(entries);
  expect(seen.names).toEqual(['idempotencyMiddleware', 'function', 'function']);
  expect(seen.isOneFunction).toBe(true);
  expect(seen.otherCopyIsAnError).toBe(true);
  expect(seen.memory).toEqual(ONE_RUN);
  expect(seen.sqlite).toEqual(
    one.version.startsWith('v20.') ? { code: 'driver_missing', isOurs: true } : ONE_RUN,
  );
});

test('importing the package loads its own files only: no framework, no driver', () => {
  const { loaded } = setup({
    path: process.execPath,
    project: 'express-5',
    program: 'request.cjs',
  });
  const own = join(CONSUMERS, 'express-5/node_modules/express-idempotent/dist/cjs/');
  expect(loaded.length).toBeGreaterThan(5);
  expect(loaded.filter((path: string) => !path.startsWith(own))).toEqual([]);
});

import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const PROJECT = join(ROOT, '.temp/consumers/express-5');
const NODES = join(ROOT, '__tests__/nodes/node_modules');

const nodes = [
  process.execPath,
  ...readdirSync(NODES)
    .filter((name) => /^node-\d+$/.test(name))
    .map((name) => join(NODES, name, 'bin/node')),
];

const STORE = `
const none = async () => undefined;
export default {
  claim: none, complete: none, release: none, inspect: none,
  list: async () => ({ records: [], after: undefined }),
};
`;

/** Runs the command as npm has put it into the project, on a Node that comes first in the path. */
function setup(node: string) {
  const module = join(PROJECT, 'store.mjs');
  writeFileSync(module, STORE);
  const PATH = `${dirname(node)}${delimiter}${process.env['PATH']}`;
  const run = (...args: string[]) =>
    execFileSync(join(PROJECT, 'node_modules/.bin/express-idempotent'), args, {
      cwd: PROJECT,
      env: { ...process.env, PATH },
      encoding: 'utf8',
    });
  return { run, end: () => rmSync(module) };
}

test.each(nodes)('npm puts the command into a project, and it runs on %s', (node) => {
  const { run, end } = setup(node);
  expect(run('--help')).toContain('pending');
  expect(run('pending', '--store', 'module:./store.mjs')).toBe('There is no pending record.\n');
  end();
});

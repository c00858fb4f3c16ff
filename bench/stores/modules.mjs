// Where the stores, the drivers and the servers come from.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);

/** The drivers that the tests use. */
export const driver = createRequire(join(ROOT, '__tests__/databases/package.json'));

/** The classes that start the servers of the tests, from the machine's own binaries. */
export function servers(name) {
  require(join(ROOT, '__tests__/contract/typescript-hook.cjs'));
  return require(join(ROOT, '__tests__/databases/servers', `${name}.ts`));
}

/** The store as it is built for users. */
export function built(name) {
  return import(pathToFileURL(join(ROOT, 'dist/esm/stores', name, 'index.js')).href);
}

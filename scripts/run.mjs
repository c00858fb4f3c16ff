import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

/** The folder of the repository; every script works there, wherever it was started. */
export const ROOT = resolve(import.meta.dirname, '..');
process.chdir(ROOT);

/** Where `npm run check` finds what nothing else needs. */
export const TOOLS = join(ROOT, 'scripts/tools');

const BIN = join(ROOT, 'node_modules/.bin');

/**
 * Runs a command to its end, on this very Node, and ends this process with its code when it fails.
 * Commands of the repository's own packages are found by their name.
 */
export function run(command, args, options = {}) {
  const code = exitCode(command, args, options);
  if (code !== 0) process.exit(code);
}

/** As {@link run}, but answers the exit code. */
export function exitCode(command, args, { cwd = ROOT, env = {}, quiet = false } = {}) {
  const places = [BIN, join(TOOLS, 'node_modules/.bin')].map((place) => join(place, command));
  const own = places.find((place) => existsSync(place));
  const { status, error } = spawnSync(own ?? command, args, {
    cwd,
    env: { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH}`, ...env },
    stdio: quiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
  });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  return status ?? 1;
}

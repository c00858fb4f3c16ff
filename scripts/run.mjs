import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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
  const { status, error } = spawnSync(placeOf(command), args, {
    cwd,
    env: environment(env),
    stdio: quiet ? 'ignore' : ['ignore', 'inherit', 'inherit'],
  });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  return status ?? 1;
}

/** Runs a command beside others: resolves with its exit code, and all that it printed. */
export async function finished(command, args) {
  const child = spawn(placeOf(command), args, { env: environment({}), stdio: 'pipe' });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  }
  try {
    const [code] = await once(child, 'close');
    return { code: code ?? 1, printed };
  } catch (error) {
    return { code: 1, printed: `${command} could not be started: ${error.message}\n` };
  }
}

function placeOf(command) {
  const places = [BIN, join(TOOLS, 'node_modules/.bin')].map((place) => join(place, command));
  return places.find((place) => existsSync(place)) ?? command;
}

function environment(more) {
  return { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH}`, ...more };
}

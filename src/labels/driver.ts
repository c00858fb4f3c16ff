import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * The driver of a database, out of the project that the service is started in: this package brings
 * none along.
 *
 * @throws {Error} one sentence, when it is not installed.
 */
export function loadDriver<Driver>(entry: string, why: string): Driver {
  const [name] = entry.split('/');
  const fromProject = createRequire(join(process.cwd(), 'package.json'));
  try {
    fromProject.resolve(entry);
  } catch (cause) {
    throw new Error(
      `${why} needs the package ${name}, and it is not installed here. ` +
        `Run \`npm install --no-save ${name}\` in ${process.cwd()}, and start again.`,
      { cause },
    );
  }
  return fromProject(entry) as Driver;
}

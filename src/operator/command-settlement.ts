import type { Settlement } from '../core/recovery-capabilities.ts';
import { done, neverStarted, unknown } from '../core/recovery-outcome.ts';
import type { GivenOptions } from './command-options.ts';

/** Reads the bytes of a file, or of the input for `-`. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/** The settlement that the options of `settle` say. Throws a sentence when it is not one. */
export async function settlementOf(given: GivenOptions, readFile: ReadFile): Promise<Settlement> {
  const kinds = ['done', 'never-started', 'unknown'].filter((kind) => given[kind] !== undefined);
  if (kinds.length !== 1) {
    throw new Error('Expected one of --done <status>, --never-started and --unknown.');
  }
  if (given['done'] !== undefined) return done(await responseOf(given, readFile));
  const astray = ['body-file', 'content-type', 'header'].find((name) => given[name] !== undefined);
  if (astray !== undefined) throw new Error(`--${astray} is for --done.`);
  return given['unknown'] === true ? unknown() : neverStarted();
}

async function responseOf(given: GivenOptions, readFile: ReadFile) {
  const { done: status, 'body-file': bodyFile, 'content-type': contentType } = given;
  if (typeof status !== 'string' || !/^[2-5]\d\d$/.test(status)) {
    throw new Error('Expected --done to be the status of the answer, from 200 to 599.');
  }
  const lines = [given['header'] ?? []].flat().map(headerLineOf);
  if (typeof contentType === 'string') lines.unshift(['Content-Type', contentType]);
  const isTyped = lines.some(([name]) => name.toLowerCase() === 'content-type');
  if (bodyFile !== undefined && !isTyped) {
    throw new Error('Expected --content-type: what the body is, such as application/json.');
  }
  const headers = Object.fromEntries(lines.map(([name]) => [name, valuesOf(lines, name)]));
  const body = bodyFile === undefined ? {} : { body: await readFile(String(bodyFile)) };
  return { status: Number(status), headers, ...body };
}

function headerLineOf(line: string | boolean): [name: string, value: string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(String(line)) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new Error("Expected --header to be a line such as 'Location: /labels/label-901'.");
}

function valuesOf(lines: readonly (readonly [string, string])[], name: string): string[] {
  return lines.filter(([each]) => each === name).map(([, value]) => value);
}

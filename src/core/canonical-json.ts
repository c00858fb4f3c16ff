import { IdempotencyError } from './errors.ts';

/** Deeper than any body that a parser with a sane limit lets through; a circle never ends. */
const MAX_DEPTH = 250_000;

/**
 * The JSON text of `value` with the members of every object sorted by UTF-16 code units, without
 * white space: values that are equal as JSON have equal text. Nesting is limited by memory only.
 *
 * What JSON has no word for is as `JSON.stringify` has it (a member that is `undefined` is left
 * out, `toJSON` is asked, `NaN` is `null`), but that a bigint is its digits with an `n`.
 *
 * @throws {IdempotencyError} `body_not_usable` for a value that contains itself.
 */
export function canonicalJson(value: unknown): string {
  const top = plain(value);
  if (!isContainer(top)) return scalar(top);
  let text = '';
  const open: Container[] = [enter(top)];
  let current = open[0] as Container;
  text += current.keys === undefined ? '[' : '{';
  for (;;) {
    if (current.next === current.length) {
      text += current.keys === undefined ? ']' : '}';
      open.pop();
      const outer = open[open.length - 1];
      if (outer === undefined) return text;
      current = outer;
      continue;
    }
    const child = takeNext(current);
    if (current.keys !== undefined) {
      if (isLeftOut(child)) continue;
      const name = current.keys[current.next - 1] as string;
      text += `${current.written ? ',' : ''}${JSON.stringify(name)}:`;
    } else if (current.written) text += ',';
    current.written = true;
    if (!isContainer(child)) {
      text += scalar(child);
      continue;
    }
    current = enter(child);
    text += current.keys === undefined ? '[' : '{';
    if (open.push(current) > MAX_DEPTH) throw endless();
  }
}

/** An array or an object on the way down, and how far it is written. */
interface Container {
  readonly value: Record<string | number, unknown>;
  /** The sorted names of an object; `undefined` for an array. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  next: number;
  written: boolean;
}

function enter(value: object): Container {
  const keys = Array.isArray(value) ? undefined : Object.keys(value).sort();
  const length = keys === undefined ? (value as unknown[]).length : keys.length;
  return { value: value as Container['value'], keys, length, next: 0, written: false };
}

function takeNext(container: Container): unknown {
  const at = container.next;
  container.next += 1;
  return plain(container.value[container.keys === undefined ? at : (container.keys[at] as string)]);
}

/** The value that JSON has for `value`: what its `toJSON` says, or itself. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? toJSON.call(value, '') : value;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

function scalar(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  return isLeftOut(value) ? 'null' : JSON.stringify(value);
}

function endless(): IdempotencyError {
  return new IdempotencyError(
    'body_not_usable',
    'Expected a request body that ends, got a value that contains itself. ' +
      'Give the `fingerprint` option.',
  );
}

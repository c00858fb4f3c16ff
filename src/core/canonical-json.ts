import { IdempotencyError } from './errors.ts';

/** Deeper than any body that a parser with a sane limit lets through; a circle never ends. */
const MAX_DEPTH = 250_000;

/**
 * The JSON text of `value` with the members of every object sorted by UTF-16 code units, without
 * white space: values that are equal as JSON have equal text. Nesting is limited by memory only.
 *
 * What JSON has no word for is as `JSON.stringify` has it (a member that is `undefined` is left
 * out, `toJSON` is asked), but that a bigint is its digits with an `n`, and numbers without an end
 * are their names: `1e400` reaches the handler, and is not `null`.
 *
 * @throws {IdempotencyError} `body_not_usable` for a value that contains itself, and for one that
 * shows nothing of what it holds (a `Map`, a `Blob`): two of them would be taken for equal.
 */
export function canonicalJson(value: unknown): string {
  const top = plain(value);
  if (!isContainer(top)) return scalar(top);
  const open: Container[] = [enter(top)];
  let text = bracket(open[0] as Container, 'open');
  for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
    if (current.next === current.length) {
      text += bracket(current, 'close');
      open.pop();
      continue;
    }
    const child = takeNext(current);
    if (current.keys !== undefined && isLeftOut(child)) continue;
    text += lead(current);
    if (!isContainer(child)) {
      text += scalar(child);
      continue;
    }
    const inner = enter(child);
    text += bracket(inner, 'open');
    if (open.push(inner) > MAX_DEPTH) throw endless();
  }
  return text;
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
  const keys = Array.isArray(value) ? undefined : sorted(Object.keys(value));
  if (keys?.length === 0 && !isPlain(value)) throw opaque();
  const length = keys === undefined ? (value as unknown[]).length : keys.length;
  return { value: value as Container['value'], keys, length, next: 0, written: false };
}

function takeNext(container: Container): unknown {
  const at = container.next;
  container.next += 1;
  return plain(container.value[container.keys === undefined ? at : (container.keys[at] as string)]);
}

function bracket({ keys }: Container, side: 'open' | 'close'): string {
  if (keys === undefined) return side === 'open' ? '[' : ']';
  return side === 'open' ? '{' : '}';
}

/** What stands before the value that was taken last: a comma, a name. */
function lead(container: Container): string {
  const comma = container.written ? ',' : '';
  container.written = true;
  if (container.keys === undefined) return comma;
  return `${comma}${quoted(container.keys[container.next - 1] as string)}:`;
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

/** Made by `{}` or `Object.create(null)`, in whatever realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return isLeftOut(value) ? 'null' : JSON.stringify(value);
}

/** Printable ASCII without the two characters that JSON escapes: most names and most texts. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Sorts in place. Most objects are small, and `sort` makes two copies of any. */
function sorted(names: string[]): string[] {
  if (names.length > INSERTION_MAX) return names.sort();
  for (let i = 1; i < names.length; i += 1) {
    const name = names[i] as string;
    let at = i;
    for (; at > 0 && (names[at - 1] as string) > name; at -= 1) names[at] = names[at - 1] as string;
    names[at] = name;
  }
  return names;
}

const INSERTION_MAX = 16;

function opaque(): IdempotencyError {
  return new IdempotencyError(
    'body_not_usable',
    'Expected a request body of plain objects, arrays and values, got an object that shows ' +
      'nothing of what it holds. Give the `fingerprint` option.',
  );
}

function endless(): IdempotencyError {
  return new IdempotencyError(
    'body_not_usable',
    'Expected a request body that ends, got a value that contains itself. ' +
      'Give the `fingerprint` option.',
  );
}

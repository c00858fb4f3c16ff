/** What stands for a name in a statement. Text is sent as bytes, whatever the character set. */
export type Value = string | number | boolean | Uint8Array | null;

export type Values = { readonly [name: string]: Value };

/** One statement of this store: its text has a `?` where `names` says what stands there. */
export interface Statement {
  readonly text: string;
  readonly names: readonly string[];
  /** In tests: the clock whose time stands for `:now`. */
  readonly now: (() => number) | undefined;
}

/** A statement with its values, as it is sent. */
export interface Query {
  readonly text: string;
  readonly values: readonly (number | Buffer | null)[];
  /** Whether connections may keep it prepared: its text is always the same. */
  readonly isFixed: boolean;
}

export function queryOf(statement: Statement, values: Values = {}): Query {
  return { text: statement.text, values: valuesOf(statement, values), isFixed: true };
}

/** The values of a statement, in the order in which its text takes them. */
function valuesOf({ names, now }: Statement, values: Values): Query['values'] {
  const all = now === undefined ? values : { ...values, now: now() };
  return names.map((name) => sent(all[name] ?? null));
}

/** A piece of SQL again and again, with other values each time; it has a `?` for each of them. */
export function repeated(piece: Statement, all: readonly Values[], between: string): Query {
  return {
    text: all.map(() => piece.text).join(between),
    values: all.flatMap((values) => valuesOf(piece, values)),
    isFixed: false,
  };
}

/** Pieces one behind the other. */
export function joined(...pieces: readonly Query[]): Query {
  return {
    text: pieces.map(({ text }) => text).join(' '),
    values: pieces.flatMap(({ values }) => values),
    isFixed: pieces.every(({ isFixed }) => isFixed),
  };
}

/** The bytes that a query takes on its way, at most: in the text they are twice as long. */
export function bytesOf({ text, values, isFixed }: Query): number {
  const bytes = values.reduce<number>(
    (sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0) + NUMBER_BYTES,
    0,
  );
  return text.length + (isFixed ? bytes : 2 * bytes);
}

const NUMBER_BYTES = 24;

function sent(value: Value): number | Buffer | null {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') return Buffer.from(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** A header names a key of at least one character and at most this many, but for quotes. */
const HEADER_MAX_CHARACTERS = 255;

/** Room for keys that an application takes from elsewhere, such as a body with its own limit. */
export const CHOSEN_MAX_CHARACTERS = 4_096;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/**
 * The idempotency key that a header value names, or `undefined` when it names none.
 *
 * `"k"` (a String of RFC 9651 section 3.3.3, the form of the IETF draft, section 2.1) and the bare
 * `k` name one key. A key is 1 to `maxCharacters` characters of visible ASCII; a value that is
 * neither form is refused, never trimmed or cut.
 */
export function parseIdempotencyKey(
  value: string,
  maxCharacters: number = HEADER_MAX_CHARACTERS,
): string | undefined {
  const key = value.startsWith('"') ? unquote(value) : value;
  if (key === undefined || key.length > maxCharacters) return undefined;
  return VISIBLE_ASCII.test(key) ? key : undefined;
}

function unquote(value: string): string | undefined {
  return QUOTED.exec(value)?.[1]?.replace(/\\(["\\])/g, '$1');
}

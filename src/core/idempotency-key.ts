/** A key has at least one character and at most this many, counted after unquoting. */
export const KEY_MAX_CHARACTERS = 255;

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/**
 * The idempotency key that a header value names, or `undefined` when it names none.
 *
 * `"k"` (a String of RFC 9651 section 3.3.3, the form of the IETF draft, section 2.1) and the bare
 * `k` name one key. A key is 1 to 255 characters of visible ASCII; a value that is neither form is
 * refused, never trimmed or cut.
 */
export function parseIdempotencyKey(value: string): string | undefined {
  const key = value.startsWith('"') ? unquote(value) : value;
  return key !== undefined && VISIBLE_ASCII.test(key) ? key : undefined;
}

function unquote(value: string): string | undefined {
  return QUOTED.exec(value)?.[1]?.replace(/\\(["\\])/g, '$1');
}

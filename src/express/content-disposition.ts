import type { HeaderLine } from '../core/saved-response.ts';
import type { NodeResponse } from './node-response.ts';

/**
 * Node re-encodes a `Content-Disposition` when it knows the length of the body, and spoils what is
 * beyond ASCII. Encoded once more beforehand, it leaves as it is in `lines`.
 */
export function protectDisposition(res: NodeResponse, lines: readonly HeaderLine[]): void {
  if (!lines.some(isSpoilt)) return;
  const same = lines.filter(([name]) => name.toLowerCase() === DISPOSITION);
  const values = same.map(([, value]) => Buffer.from(value).toString('latin1'));
  const [name] = same[0] as HeaderLine;
  res.setHeader(name, values.length === 1 ? (values[0] as string) : values);
}

/**
 * The same where outer layers end the answer: the head is built before Node knows the length by
 * anything but the header.
 */
export function buildDispositionEarly(
  res: NodeResponse,
  lines: readonly HeaderLine[],
  bytes: number,
): void {
  if (!lines.some(isSpoilt)) return;
  if (!res.hasHeader('Content-Length')) res.setHeader('Content-Length', String(bytes));
  res.writeHead(res.statusCode);
}

function isSpoilt([name, value]: HeaderLine): boolean {
  return (
    name.length === DISPOSITION.length &&
    name.toLowerCase() === DISPOSITION &&
    !IS_ASCII.test(value)
  );
}

export const DISPOSITION = 'content-disposition';

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what ASCII is.
export const IS_ASCII: RegExp = /^[\x00-\x7f]*$/;

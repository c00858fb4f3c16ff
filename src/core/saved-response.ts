import { IdempotencyError } from './errors.ts';

/**
 * One header line of a saved response. `'added'` marks a value that the handler appended to a
 * list which outer middleware had begun (`Set-Cookie`): a replay appends it to what the new
 * request's outer middleware has set, instead of replacing that.
 */
export type HeaderLine =
  | readonly [name: string, value: string]
  | readonly [name: string, value: string, how: 'added'];

/** The answer of the handler, with everything that a replay needs. */
export interface KeptResponse {
  readonly kept: true;
  readonly status: number;
  /** The reason phrase, when it is not the default one of the status. */
  readonly reason?: string;
  /** Header lines in order, one entry a value: two `ETag` values are two entries. */
  readonly headers: readonly HeaderLine[];
  /** Lower-case names of headers that outer middleware had set and the handler removed. */
  readonly removedNames: readonly string[];
  readonly body: Uint8Array;
}

/** The action was done, but its answer was too large to keep. It is never run again. */
export interface UnkeptResponse {
  readonly kept: false;
  readonly status: number;
}

/** What the store keeps of the handler's answer. */
export type SavedResponse = KeptResponse | UnkeptResponse;

const FORMAT_VERSION = 1;
const PREFIX_BYTES = 5;

/** A copy that shares nothing with `response`. */
export function copySavedResponse(response: SavedResponse): SavedResponse {
  if (!response.kept) return { kept: false, status: response.status };
  const { status, reason, headers, removedNames, body } = response;
  return {
    kept: true,
    status,
    ...(reason === undefined ? {} : { reason }),
    headers: headers.map((line) => [...line] as const),
    removedNames: [...removedNames],
    body: Buffer.from(body),
  };
}

/**
 * The response as one unpooled buffer: the version (1 byte), the length of the head (4 bytes,
 * big-endian), the head as `encodeHead` makes it, the body. Frozen by golden vectors.
 */
export function encodeSavedResponse(response: SavedResponse): Buffer {
  const head = encodeHead(response);
  const headBytes = Buffer.byteLength(head);
  const body = response.kept ? response.body : EMPTY;
  const bytes = Buffer.allocUnsafeSlow(PREFIX_BYTES + headBytes + body.byteLength);
  bytes[0] = FORMAT_VERSION;
  bytes.writeUInt32BE(headBytes, 1);
  bytes.write(head, PREFIX_BYTES);
  bytes.set(body, PREFIX_BYTES + headBytes);
  return bytes;
}

/**
 * The reverse of {@link encodeSavedResponse}. The body is a copy.
 *
 * @throws {IdempotencyError} `record_corrupt` when the bytes are not what was written.
 */
export function decodeSavedResponse(bytes: Uint8Array): SavedResponse {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < PREFIX_BYTES) throw corrupt('it is too short');
  if (view[0] !== FORMAT_VERSION) throw corrupt(`its format version is ${view[0]}, not 1`);
  const bodyStart = PREFIX_BYTES + view.readUInt32BE(1);
  if (bodyStart > view.length) throw corrupt('its head is cut off');
  return decodeHead(view.toString('utf8', PREFIX_BYTES, bodyStart), view.subarray(bodyStart));
}

/** The head as JSON text, for backends that keep text and bytes in columns of their own. */
export function encodeHead(response: SavedResponse): string {
  if (!response.kept) return JSON.stringify({ v: FORMAT_VERSION, status: response.status });
  const { status, reason, headers, removedNames } = response;
  return JSON.stringify({ v: FORMAT_VERSION, status, reason, headers, removedNames });
}

/**
 * The reverse of {@link encodeHead}. `body` is copied.
 *
 * @throws {IdempotencyError} `record_corrupt` when the text is not what was written.
 */
export function decodeHead(text: string, body: Uint8Array): SavedResponse {
  const { v, status, reason, headers, removedNames } = parseHead(text);
  if (v !== FORMAT_VERSION) throw corrupt(`the format version of its head is ${v}, not 1`);
  if (!isStatus(status)) throw corrupt('its status is not a number from 100 to 999');
  if (headers === undefined) return { kept: false, status };
  if (!isHeaderLines(headers)) throw corrupt('its header lines are not pairs of strings');
  if (!isStrings(removedNames)) throw corrupt('its removed names are not strings');
  const copy = Buffer.from(body);
  if (reason === undefined) return { kept: true, status, headers, removedNames, body: copy };
  if (typeof reason !== 'string') throw corrupt('its reason phrase is not a string');
  return { kept: true, status, reason, headers, removedNames, body: copy };
}

function parseHead(text: string): Record<string, unknown> {
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch (cause) {
    throw corrupt('its head is not JSON', cause);
  }
  if (typeof head !== 'object' || head === null) throw corrupt('its head is not an object');
  return head as Record<string, unknown>;
}

const EMPTY = new Uint8Array(0);

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 999;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isHeaderLines(value: unknown): value is HeaderLine[] {
  return Array.isArray(value) && value.every(isHeaderLine);
}

function isHeaderLine(value: unknown): value is HeaderLine {
  if (!isStrings(value)) return false;
  return value.length === 2 || (value.length === 3 && value[2] === 'added');
}

function corrupt(what: string, cause?: unknown): IdempotencyError {
  return new IdempotencyError(
    'record_corrupt',
    `The saved response cannot be read: ${what}. The record was kept; settle it by hand.`,
    { cause },
  );
}

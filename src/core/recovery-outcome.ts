import { IdempotencyError } from './errors.ts';
import { STRICT } from './profiles.ts';
import type { Settlement } from './recovery-capabilities.ts';
import type { HeaderLine, KeptResponse } from './saved-response.ts';
import { isFinalStatus, isHeaderName, isHeaderValue, isSetForYou } from './sendable.ts';

/** The action was done, and this is its answer. */
export type Done = Extract<Settlement, { kind: 'done' }>;
/** The action was not done, and the attempt that might do it can never do it any more. */
export type NeverStarted = Extract<Settlement, { kind: 'never-started' }>;
/** Nobody can tell. */
export type Unknown = Extract<Settlement, { kind: 'unknown' }>;

/** An answer in words: what a retry is to be given. */
export interface ResponseWords {
  /** From 200 to 599. */
  readonly status: number;
  /** A list is one line a value. Lengths and what belongs to one connection are not for you. */
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>>;
  /** Text and bytes are sent as they are; any other value as JSON, with its `Content-Type`. */
  readonly body?: unknown;
}

/**
 * The action was done, and its answer is `response`, for good: every retry is given it.
 *
 * @throws {IdempotencyError} `response_invalid` when HTTP cannot carry it.
 */
export function done(response: ResponseWords): Done {
  return { kind: 'done', response: savedResponseOf(response) };
}

/**
 * The action was not done, and cannot be done later by the attempt in question. That is only true
 * if whatever it acts on takes no more from that attempt; to have found nothing there is not
 * enough, since the attempt may only be slow.
 */
export function neverStarted(): NeverStarted {
  return { kind: 'never-started' };
}

/**
 * Nobody can tell. An operator who settles a record so gives every retry `response` as the definite
 * answer, by default 409 `{"error":"outcome_unknown"}`; `recover` that answers so leaves the key
 * pending.
 *
 * @throws {IdempotencyError} `response_invalid` when HTTP cannot carry it.
 */
export function unknown(response: ResponseWords = OUTCOME_UNKNOWN): Unknown {
  return { kind: 'unknown', response: savedResponseOf(response) };
}

/** The definite answer where nobody can tell. */
export const OUTCOME_UNKNOWN: ResponseWords = {
  status: STRICT.outcomeUnknown.status,
  headers: { 'Content-Type': 'application/json' },
  body: STRICT.outcomeUnknown.body,
};

/** @throws {IdempotencyError} `response_invalid` */
export function savedResponseOf(words: ResponseWords): KeptResponse {
  const { status, headers = {}, body } = words ?? {};
  if (!isFinalStatus(status)) throw invalid('a status from 200 to 599', numberOrType(status));
  const isKnown = Object.keys(words).every((name) => WORDS.has(name));
  if (!isKnown) throw invalid('no members but status, headers and body', 'another, too');
  const lines = linesOf(headers);
  const bytes = body === undefined ? Buffer.alloc(0) : bytesOf(body);
  if (bytes !== undefined) return kept(status, lines, bytes);
  const isTyped = lines.some(([name]) => name.toLowerCase() === 'content-type');
  if (!isTyped) lines.push(['Content-Type', 'application/json']);
  return kept(status, lines, jsonOf(body));
}

const WORDS: ReadonlySet<string> = new Set(['status', 'headers', 'body']);

function kept(status: number, headers: HeaderLine[], body: Buffer): KeptResponse {
  return { kept: true, status, headers, removedNames: [], body };
}

function linesOf(headers: NonNullable<ResponseWords['headers']>): HeaderLine[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (!isHeaderName(name))
      throw invalid('header names that HTTP can carry', 'one that it cannot');
    const lower = name.toLowerCase();
    if (isSetForYou(lower)) throw invalid(`no ${lower} line, which is set for you`, 'one');
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((each): HeaderLine => [name, text(each)]);
  });
}

function text(value: unknown): string {
  const line = typeof value === 'number' ? String(value) : value;
  if (isHeaderValue(line)) return line;
  throw invalid('header values that HTTP can carry', typeof value);
}

/** A copy, or `undefined` when `body` is neither text nor bytes. */
function bytesOf(body: unknown): Buffer | undefined {
  if (typeof body === 'string') return Buffer.from(body);
  if (!ArrayBuffer.isView(body)) return undefined;
  return Buffer.from(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}

function jsonOf(body: unknown): Buffer {
  let json: string | undefined;
  try {
    json = JSON.stringify(body);
  } catch (cause) {
    throw invalid('a body that JSON can say', typeof body, cause);
  }
  if (json === undefined) throw invalid('a body that JSON can say', typeof body);
  return Buffer.from(json);
}

function numberOrType(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value;
}

function invalid(expected: string, got: string, cause?: unknown): IdempotencyError {
  return new IdempotencyError(
    'response_invalid',
    `Expected a response with ${expected}, got ${got}. Write { status: 201, body: {} }.`,
    { cause },
  );
}

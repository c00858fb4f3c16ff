import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import { IdempotencyError } from '../core/errors.ts';
import type { Answer } from '../core/profiles.ts';
import type { KeptResponse } from '../core/saved-response.ts';
import { buildDispositionEarly, protectDisposition } from './content-disposition.ts';
import { endNative } from './first-byte.ts';
import { isUnpatched, type NodeResponse, prepareForMethods } from './node-response.ts';
import { isOfOneConnection, replaceLines } from './response-head.ts';

/**
 * Sends a saved response: its status, its header lines, its bytes, and nothing invented. What outer
 * middleware has set for this request stays, but for the names that the saved response has.
 *
 * @throws {IdempotencyError} `record_corrupt` when it cannot be sent. Then nothing was set.
 */
export function replay(res: ServerResponse, response: KeptResponse, storeName: string): void {
  check(response, storeName, res.req?.method === 'HEAD');
  const { status, reason, headers, removedNames, body } = response;
  const to = res as unknown as NodeResponse;
  // Before Node 24, what makes own methods cheap makes each header of a replay cheap, too.
  prepareForMethods(to);
  to.statusCode = status;
  if (reason !== undefined) to.statusMessage = reason;
  for (const name of removedNames) if (to.hasHeader(name)) to.removeHeader(name);
  replaceLines(to, headers);
  // The framing is ours, as it was for the first answer.
  if (to.hasHeader('transfer-encoding')) to.removeHeader('transfer-encoding');
  to._removedContLen = false;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (isUnpatched(to)) {
    if (bytes.length > 0) protectDisposition(to, headers);
    endNative(to, bytes);
  } else if (bytes.length > 0) {
    buildDispositionEarly(to, headers, bytes.length);
    to.end(bytes);
  } else to.end();
}

/** Sends an answer of ours. Does nothing if an answer has begun. */
export function answer(res: ServerResponse, { status, body, retryAfterSeconds }: Answer): void {
  if (res.headersSent) return;
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(retryAfterSeconds));
  res.end(body);
}

function check(response: KeptResponse, storeName: string, isHead: boolean): void {
  const { status, reason, headers, removedNames, body } = response;
  try {
    if (!isFinal(status)) throw new Error('its status');
    if (reason !== undefined) checkReason(reason);
    const hasBody = !(isHead || status === 204 || status === 304);
    let lengths = 0;
    for (const [name, value] of headers) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      lengths += checkFraming(name.toLowerCase(), value, body.byteLength, hasBody);
      if (lengths > 1) throw new Error('it has two Content-Length lines');
    }
    for (const name of removedNames) validateHeaderName(name);
  } catch (cause) {
    throw new IdempotencyError(
      'record_corrupt',
      `Expected a saved response that HTTP can carry from ${storeName}, got one that it cannot: ` +
        'see the cause. The record was kept; settle it by hand.',
      { cause },
    );
  }
}

/** One of 1xx is followed by another answer, and there is none. */
function isFinal(status: unknown): boolean {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 999;
}

function checkReason(reason: unknown): void {
  if (typeof reason !== 'string') throw new Error('its reason phrase');
  validateHeaderValue('reason phrase', reason);
}

/**
 * Refuses what would leave the client waiting, or shift the next answer on its connection. Answers
 * how many lengths the line gives.
 */
function checkFraming(lower: string, value: string, bytes: number, hasBody: boolean): 0 | 1 {
  if (isOfOneConnection(lower)) throw new Error(`${lower} belongs to one connection`);
  if (lower !== 'content-length') return 0;
  const mayDiffer = bytes === 0 && !hasBody;
  if (!/^\d+$/.test(value) || (Number(value) !== bytes && !mayDiffer)) {
    throw new Error('its Content-Length is not the number of its bytes');
  }
  return 1;
}

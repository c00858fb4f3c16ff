import { isUint8Array } from 'node:util/types';
import { callLater } from './first-byte.ts';
import { conclude, spill } from './held-outcome.ts';
import { type HeldResponse, HOLD, type Hold } from './hold.ts';
import { HeadFields, native } from './node-response.ts';
import { ResponseHead } from './response-head.ts';

export function writeHead(this: HeldResponse, ...args: unknown[]): HeldResponse {
  const hold = this[HOLD];
  if (hold.stage === 'open') hold.former.writeHead.apply(this, args);
  else takeHead(this, hold, args);
  return this;
}

export function writeHeader(this: HeldResponse, ...args: unknown[]): HeldResponse {
  const hold = this[HOLD];
  if (hold.stage === 'open') (hold.former.writeHeader as typeof writeHead).apply(this, args);
  else takeHead(this, hold, args);
  return this;
}

export function write(this: HeldResponse, ...args: unknown[]): boolean {
  const hold = this[HOLD];
  if (hold.stage === 'open') return hold.former.write.apply(this, args);
  const chunk = args[0];
  const encoding = encodingOf(args[1]);
  const callback = callbackOf(args[1], args[2]);
  if (this.finished || !isChunk(chunk)) return native.write.apply(this, args);
  if (hold.stage === 'drained') {
    callLater(callback);
    return true;
  }
  const size = sizeOf(chunk, encoding);
  checkLength(this, hold, size, isTooLong);
  impliedHead(this, hold);
  if (!this._hasBody) return native.write.apply(this, args);
  if (hold.stage === 'spilling') return keepLate(hold, chunk, encoding, callback);
  hold.body.add(chunk, encoding, size);
  callLater(callback);
  return hold.body.size <= hold.settings.maxBytes || spill(this, hold);
}

export function end(this: HeldResponse, ...args: unknown[]): HeldResponse {
  const hold = this[HOLD];
  if (hold.stage === 'open') {
    hold.former.end.apply(this, args);
    return this;
  }
  if (this.finished) {
    native.end.apply(this, args);
    return this;
  }
  const isBare = typeof args[0] === 'function';
  const chunk = isBare ? undefined : args[0];
  if (hold.stage !== 'drained') takeLast(this, hold, chunk, encodingOf(args[1]));
  clearTimeout(hold.graceTimer);
  this.finished = true;
  // Before Node 24 `writableFinished` is true when nothing waits to be written.
  this.outputSize = hold.body.size || 1;
  hold.callback = isBare ? args[0] : callbackOf(args[1], args[2]);
  conclude(this, hold);
  return this;
}

/** Node builds the head, past the outer layers: it checks all, and refuses later changes. */
function takeHead(res: HeldResponse, hold: Hold, args: readonly unknown[]): void {
  if (res._header) {
    native.writeHead.apply(res, args as unknown[]);
    return;
  }
  const fields = new HeadFields(res);
  try {
    native.writeHead.apply(res, args as unknown[]);
  } catch (error) {
    fields.restore(res);
    throw error;
  }
  hold.fields = fields;
  hold.head = new ResponseHead(res, hold.outerHeaders, args);
  if (hold.isOutermost) hold.head.readDisposition(String(res._header));
}

/** Through inner layers, by name. One that does not pass it on does not leave us without a head. */
function impliedHead(res: HeldResponse, hold: Hold): void {
  if (!res._header) res._implicitHeader();
  if (hold.head === undefined) takeHead(res, hold, [res.statusCode]);
}

/** The last chunk, in the steps of Node's `end`. */
function takeLast(
  res: HeldResponse,
  hold: Hold,
  chunk: unknown,
  encoding: BufferEncoding | undefined,
): void {
  if (chunk && !isChunk(chunk)) native.write.call(res, chunk);
  const last = chunk ? (chunk as string | Uint8Array) : '';
  const size = sizeOf(last, encoding);
  if (chunk) checkLength(res, hold, size, isDifferent);
  if (!res._header) res._contentLength = size;
  impliedHead(res, hold);
  if (!res._hasBody) {
    if (chunk) native.write.call(res, chunk, encoding);
    return;
  }
  if (size > 0) {
    if (hold.stage === 'held') hold.body.add(last, encoding, size);
    else keepLate(hold, last, encoding, undefined);
  }
  checkLength(res, hold, 0, isDifferent);
}

/** A chunk that waits for "not kept" to be saved. */
function keepLate(
  hold: Hold,
  chunk: Chunk,
  encoding: BufferEncoding | undefined,
  callback: unknown,
): false {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
  hold.late.push([bytes, callback]);
  hold.body.size += bytes.length;
  return false;
}

/** Node's own check, which a write that is held does not pass. */
function checkLength(
  res: HeldResponse,
  hold: Hold,
  more: number,
  isWrong: (bytes: number, length: number) => boolean,
): void {
  const length = res._contentLength;
  if (!res.strictContentLength || length === null || !res._hasBody) return;
  if (res.chunkedEncoding) return;
  const bytes = hold.body.size + more;
  if (!isWrong(bytes, length)) return;
  const error = new Error(
    `Response body's content-length of ${bytes} byte(s) does not match ` +
      `the content-length of ${length} byte(s) set in header`,
  );
  throw Object.assign(error, { code: 'ERR_HTTP_CONTENT_LENGTH_MISMATCH' });
}

function isTooLong(bytes: number, length: number): boolean {
  return bytes > length;
}

function isDifferent(bytes: number, length: number): boolean {
  return bytes !== length;
}

/** The encoding may be left out before the callback. */
function encodingOf(second: unknown): BufferEncoding | undefined {
  return typeof second === 'function' ? undefined : (second as BufferEncoding | undefined);
}

function callbackOf(second: unknown, third: unknown): unknown {
  return typeof second === 'function' ? second : third;
}

type Chunk = string | Uint8Array;

function isChunk(chunk: unknown): chunk is Chunk {
  return typeof chunk === 'string' || isUint8Array(chunk);
}

function sizeOf(chunk: Chunk, encoding: BufferEncoding | undefined): number {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
}

import type { ServerResponse } from 'node:http';
import { buildDispositionEarly, protectDisposition } from './content-disposition.ts';
import type { HeldResponse, Hold, Verdict } from './hold.ts';
import { type HeadFields, type NodeResponse, native } from './node-response.ts';
import type { ResponseHead } from './response-head.ts';

/** Up to this size Node writes head and body in one piece when the body is a string. */
const JOINED_MAX_BYTES = 4096;

/** Sends the held answer, whole. Never throws. */
export function sendHeld(res: HeldResponse, hold: Hold, bytes: Buffer): void {
  const head = hold.head as ResponseHead;
  open(res, hold);
  guarded(res, hold, () => {
    if (isBuiltHeadRight(res, hold, head, bytes.length)) {
      endNative(res, bytes, hold.body.text, hold.callback);
      return;
    }
    buildAgain(res, hold, head, bytes.length);
    endOuter(res, hold, head, bytes);
  });
  settle(res, hold);
}

/** Sends what a too large answer has so far; from here on the handler writes to the client. */
export function startStreaming(res: HeldResponse, hold: Hold): void {
  const isEnded = res.finished;
  open(res, hold);
  let isRoomLeft = true;
  guarded(res, hold, () => {
    if (!hold.isOutermost) {
      const { former, fields } = hold;
      res.writeHead = former.writeHead;
      fields?.restore(res);
      setStatus(res, hold.head as ResponseHead);
      hold.head?.apply(res);
    }
    isRoomLeft = writeKept(res, hold, isEnded);
  });
  settle(res, hold);
  if (!isEnded && isRoomLeft) emitDrain(res, hold);
}

/** Sends what `verdict` writes, in place of the held answer. Never throws. */
export function sendInstead(
  res: HeldResponse,
  hold: Hold,
  verdict: Exclude<Verdict, 'send'>,
): void {
  const { former, callback } = hold;
  open(res, hold);
  guarded(res, hold, () => {
    hold.restoreOuter(res);
    res.writeHead = former.writeHead;
    res.write = former.write;
    res.end = former.end;
    verdict(res as unknown as ServerResponse);
    if (typeof callback === 'function') res.once('finish', callback);
  });
  settle(res, hold);
}

/** What the handler has written is dropped, and what it still writes goes nowhere. */
export function drain(res: HeldResponse, hold: Hold, verdict: Exclude<Verdict, 'send'>): void {
  hold.stage = 'drained';
  hold.verdict = verdict;
  hold.body.takeChunks();
  for (const [, callback] of hold.late) callLater(callback);
  hold.late = [];
  emitDrain(res, hold);
}

/** Writes `bytes` with Node's own `end`; small ones in one piece with the head. */
export function endNative(
  res: NodeResponse,
  bytes: Buffer,
  text?: string | undefined,
  callback?: unknown,
): void {
  if (bytes.length === 0) native.end.call(res, callback);
  else if (text !== undefined) native.end.call(res, text, 'latin1', callback);
  else if (bytes.length > JOINED_MAX_BYTES) native.end.call(res, bytes, callback);
  else native.end.call(res, bytes.toString('latin1'), 'latin1', callback);
}

export function callLater(callback: unknown): void {
  if (typeof callback === 'function') process.nextTick(callback as () => void);
}

function open(res: HeldResponse, hold: Hold): void {
  hold.stage = 'open';
  clearTimeout(hold.graceTimer);
  res.finished = false;
  res.outputSize = 0;
  res.destroyed = hold.isGone;
  res._closed = hold.isGone;
  for (const listener of hold.drainListeners) hold.former.on.call(res, 'drain', listener);
}

/** The head that Node built is sent as it is, unless an outer layer or a replay would differ. */
function isBuiltHeadRight(
  res: HeldResponse,
  hold: Hold,
  head: ResponseHead,
  bodyBytes: number,
): boolean {
  if (!hold.isOutermost || !head.isInReplayOrder || head.reason === '') return false;
  if (!res._hasBody) return true;
  return !res.chunkedEncoding && !res._removedContLen && res._contentLength === bodyBytes;
}

function buildAgain(res: HeldResponse, hold: Hold, head: ResponseHead, bodyBytes: number): void {
  const hasBody = res._hasBody;
  const fields = hold.fields as HeadFields;
  fields.restore(res);
  setStatus(res, head);
  head.apply(res);
  // The framing of a whole answer is ours: a length, and so neither chunks nor trailers.
  res.removeHeader('Transfer-Encoding');
  res.removeHeader('Trailer');
  res._trailer = '';
  if (hasBody && res.hasHeader('Content-Length')) {
    res.setHeader('Content-Length', String(bodyBytes));
  }
  fields.restore(res);
  // Else an outer layer that removes the length, as compression does, makes the first answer
  // chunked and the replay not.
  res._removedContLen = false;
}

function setStatus(res: HeldResponse, head: ResponseHead): void {
  res.statusCode = head.status;
  res.statusMessage = head.reason || undefined;
}

/** Hands the answer to the outer layers, past those that came after us and have had their turn. */
function endOuter(res: HeldResponse, hold: Hold, head: ResponseHead, bytes: Buffer): void {
  const { former, callback } = hold;
  res.writeHead = former.writeHead;
  if (hold.isOutermost) {
    if (bytes.length > 0) protectDisposition(res, head.lines);
    endNative(res, bytes, hold.body.text, callback);
  } else if (bytes.length > 0) {
    buildDispositionEarly(res, head.lines, bytes.length);
    former.end.call(res, bytes, callback);
  } else {
    // Outer layers mistake a callback in place of the chunk for a chunk.
    if (typeof callback === 'function') res.once('finish', callback);
    former.end.call(res);
  }
}

/** Answers whether the last write left room for more. */
function writeKept(res: HeldResponse, hold: Hold, isEnded: boolean): boolean {
  const { former, callback } = hold;
  const kept = hold.body.takeChunks().filter((chunk) => chunk.length > 0);
  const late = hold.late;
  hold.late = [];
  if (isEnded && late.length === 0 && kept.length === 1) {
    former.end.call(res, kept[0], callback);
    return true;
  }
  let isRoomLeft = true;
  for (const chunk of kept) isRoomLeft = former.write.call(res, chunk);
  for (const [chunk, done] of late) isRoomLeft = former.write.call(res, chunk, done);
  if (!isEnded) return isRoomLeft;
  if (typeof callback === 'function') res.once('finish', callback);
  former.end.call(res);
  return true;
}

/** Tells a handler that waits since a `write` of ours answered false. */
function emitDrain(res: HeldResponse, hold: Hold): void {
  const { former, drainListeners } = hold;
  process.nextTick(() => {
    former.emit.call(res, 'drain');
    for (const listener of drainListeners) (listener as () => void).call(res);
  });
}

/** What outer layers throw must not reach the handler: its answer is given, and saved. */
function guarded(res: HeldResponse, hold: Hold, send: () => void): void {
  try {
    send();
  } catch {
    hold.settings.report?.('outer-threw');
    res.socket?.destroy();
  }
}

/** Afterwards: a destruction and a `close` that have waited. */
function settle(res: HeldResponse, hold: Hold): void {
  hold.callback = undefined;
  if (hold.isDestroyWanted && res.socket === null) hold.former.destroy.call(res);
  if (!hold.isGone || hold.isCloseTold) return;
  hold.isCloseTold = true;
  process.nextTick(() => hold.former.emit.call(res, 'close'));
}

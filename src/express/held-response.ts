import type { ServerResponse } from 'node:http';
import { IdempotencyError } from '../core/errors.ts';
import { sendInstead } from './first-byte.ts';
import { destroy, emit, on, writeRaw } from './held-events.ts';
import { end, write, writeHead, writeHeader } from './held-writing.ts';
import { type HeldResponse, HOLD, Hold, type HoldSettings, type Verdict } from './hold.ts';
import { native, prepareForMethods } from './node-response.ts';

export type { HoldSettings, Verdict } from './hold.ts';

/**
 * Holds the answer that is given on `res` from now on: not one byte, header or event of it reaches
 * the client before `settings.save` says so. What the handler sees meanwhile is what it would see
 * without the hold. Outer layers see the answer once, when it leaves.
 *
 * @throws {IdempotencyError} `nested` when `res` is held already.
 */
export function holdResponse(res: ServerResponse, settings: HoldSettings): void {
  const held = res as unknown as HeldResponse;
  if (held[HOLD] !== undefined) {
    throw new IdempotencyError(
      'nested',
      'Expected a response that nobody holds, got one that is held already. ' +
        'Mount the middleware once on the way of a request.',
    );
  }
  if (held._header) {
    settings.report?.('answered-by-outer');
    return;
  }
  prepareForMethods(held);
  held[HOLD] = new Hold(held, settings);
  held.writeHead = writeHead;
  if (held.writeHeader !== undefined) held.writeHeader = writeHeader;
  held.write = write;
  held.end = end;
  held._writeRaw = writeRaw;
  held.emit = emit;
  held.destroy = destroy;
  if (held.on !== native.on) held.on = on;
}

/** Whether an answer was begun: here, or by an outer layer. */
export function hasBegun(res: ServerResponse): boolean {
  const held = res as unknown as HeldResponse;
  const hold = held[HOLD];
  return hold?.stage !== 'held' || hold.head !== undefined || Boolean(held._header);
}

/** Sends what `verdict` writes in place of an answer that the handler has not begun. */
export function answerHeld(res: ServerResponse, verdict: Verdict): void {
  const held = res as unknown as HeldResponse;
  if (verdict !== 'send' && held[HOLD]?.stage === 'held') sendInstead(held, held[HOLD], verdict);
}

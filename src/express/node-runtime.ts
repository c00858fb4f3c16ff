import { randomFillSync } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Runtime } from '../core/runtime.ts';
import { clearSharedTimer, type SharedTimer, setSharedTimer } from './shared-timers.ts';

/** Time and chance of this process. */
export const NODE_RUNTIME: Runtime = {
  nowMs: () => performance.now(),
  random: () => Math.random(),
  newOwner: () => randomText(),
  setTimer: setSharedTimer,
  clearTimer: (timer) => clearSharedTimer(timer as SharedTimer),
};

const RANDOM = Buffer.allocUnsafeSlow(4_096);
const TEXT_BYTES = 16;
let used = RANDOM.length;

/**
 * 128 random bits in hex, filled in 256 at a time. A string in one piece: `randomUUID` makes a
 * tree of twenty pieces, and to flatten that costs five times as much as all of this.
 */
function randomText(): string {
  if (used === RANDOM.length) {
    randomFillSync(RANDOM);
    used = 0;
  }
  used += TEXT_BYTES;
  return RANDOM.toString('hex', used - TEXT_BYTES, used);
}

import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Runtime } from '../core/runtime.ts';

/** Time and chance of this process. */
export const NODE_RUNTIME: Runtime = {
  nowMs: () => performance.now(),
  random: () => Math.random(),
  newOwner: () => randomUUID(),
  setTimer: (run, delayMs) => setTimeout(run, delayMs).unref(),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

import type { RunningAttempt } from '../core/running-attempt.ts';

declare global {
  namespace Express {
    interface Request {
      /**
       * The attempt that runs the handler; `undefined` where no idempotency middleware has let the
       * request through under a key.
       */
      idempotency?: RunningAttempt | undefined;
    }
  }
}

export type { RunningAttempt };

import type { Attempt } from '../core/store.ts';

declare global {
  namespace Express {
    interface Request {
      /**
       * The attempt that runs the handler; `undefined` where no idempotency middleware has let the
       * request through under a key.
       */
      idempotency?: Attempt | undefined;
    }
  }
}

export type { Attempt };

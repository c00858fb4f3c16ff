import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { AttemptMachine } from '../core/attempt.ts';
import { AttemptContext } from '../core/attempt-context.ts';
import { nameOf } from '../core/claim-check.ts';
import { IdempotencyError } from '../core/errors.ts';
import { STRICT } from '../core/profiles.ts';
import type { IdempotencyStore } from '../core/store.ts';
import { isGone, whenGone } from './client-gone.ts';
import { NODE_RUNTIME } from './node-runtime.ts';
import { type IdempotencyOptions, type Settings, settle } from './options.ts';
import { identify } from './request-identity.ts';
import { RunningHandler } from './running-handler.ts';
import { errorOf } from './thrown.ts';
import { say, sendSaved } from './verdicts.ts';

/** What `app.use` and `app.post` take. It narrows nothing of the handlers that come after it. */
export type IdempotencyMiddleware = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Makes the handler after it idempotent: of all requests with one idempotency key it runs for one,
 * and every retry is given that one's response, byte for byte.
 *
 * What always holds: no byte of an outcome leaves before the store has saved it; a key is freed
 * only when its handler has provably not begun; a store that cannot tell lets nothing run.
 *
 * Mount it after authentication, validation and the body parser, and once on the way of a request.
 *
 * @example
 * ```ts
 * import express from 'express';
 * import { idempotent, MemoryStore } from 'express-idempotent';
 *
 * const app = express();
 * app.post('/labels', express.json(), idempotent(new MemoryStore()), (_req, res) => {
 *   res.status(201).json({ label_id: 'label-901' });
 * });
 * ```
 *
 * @throws {IdempotencyError} `store_invalid`, `option_invalid`, when it is built.
 */
export function idempotencyMiddleware(
  store: IdempotencyStore,
  options: IdempotencyOptions = {},
): IdempotencyMiddleware {
  const settings = settle(store, options);
  return function idempotency(req, res, next) {
    if (!settings.covers(req.method as string)) {
      next();
      return;
    }
    passThrough(req as Request, res, settings, next).then(
      (then) => {
        if (then === 'unprotected') next();
        else if (then !== 'answered') then.run(next);
      },
      (thrown: unknown) => next(errorOf(thrown)),
    );
  };
}

/** The short name of {@link idempotencyMiddleware}. */
export const idempotent: typeof idempotencyMiddleware = idempotencyMiddleware;

/** One request through the protocol: answered, let through untouched, or up to its handler. */
async function passThrough(
  req: Request,
  res: ServerResponse,
  settings: Settings,
  next: (error?: unknown) => void,
): Promise<RunningHandler | 'answered' | 'unprotected'> {
  const isBegun = res.headersSent && !res.writableEnded;
  const asking = identify(req, settings);
  const asked = 'then' in asking ? await asking : asking;
  if (asked.kind === 'unprotected') return 'unprotected';
  if (isBegun) throw begunBefore();
  if (asked.kind === 'key missing') return say(res, STRICT.keyMissing);
  if (asked.kind === 'key invalid') return say(res, STRICT.keyInvalid);
  if (isGone(res)) return 'answered';

  const watchClient = (gone: () => void): void => whenGone(res, gone);
  const owner = NODE_RUNTIME.newOwner();
  const { leaseMs } = settings.recovery;
  const context = new AttemptContext(asked.identity, owner, watchClient, leaseMs);
  const attempt = new AttemptMachine(context, settings);
  const claim = await attempt.claim();
  switch (claim.kind) {
    case 'unavailable':
      return say(res, STRICT.storeUnavailable);
    case 'conflict':
      return say(res, STRICT.conflict);
    case 'pending':
      return say(res, STRICT.pending);
    case 'expired':
      return say(res, STRICT.expired);
    case 'replay':
      return sendSaved(res, claim.response, nameOf(settings.store));
    case 'new':
      break;
    /* istanbul ignore next -- a claim of another kind is an error before it comes here */
    default:
      claim satisfies never;
  }

  const admitting = attempt.admit(settings.admit);
  const admitted = typeof admitting === 'number' ? admitting : await admitting;
  if (admitted === 429) return say(res, STRICT.refused429);
  if (admitted === 503) return say(res, STRICT.refused503);
  const isOpen = settings.recovery.mode !== 'transactional' || (await attempt.openTransaction());
  if (!isOpen) return say(res, STRICT.storeUnavailable);
  if (res.headersSent) {
    await attempt.release();
    return 'answered';
  }

  return RunningHandler.start(req, res, attempt, settings, next);
}

/** Nothing of what the middleware has to say could reach the client any more. */
function begunBefore(): IdempotencyError {
  return new IdempotencyError(
    'answer_begun',
    'Expected a request without an answer, got one that other middleware has begun to answer. ' +
      'Mount what writes or flushes the head after the idempotency middleware.',
  );
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { AttemptMachine, type AttemptSettings, type Saving } from '../core/attempt.ts';
import { AttemptContext } from '../core/attempt-context.ts';
import { nameOf } from '../core/claim-check.ts';
import { publish } from '../core/events.ts';
import { type Answer, STRICT } from '../core/profiles.ts';
import type { SavedResponse } from '../core/saved-response.ts';
import type { Attempt, IdempotencyStore } from '../core/store.ts';
import { isGone, whenGone } from './client-gone.ts';
import { holdResponse, type Verdict } from './held-response.ts';
import { NODE_RUNTIME } from './node-runtime.ts';
import { type IdempotencyOptions, type Settings, settle } from './options.ts';
import { answer, replay } from './replies.ts';
import { identify } from './request-identity.ts';

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
  const attemptSettings = { ...settings, store, runtime: NODE_RUNTIME };
  return function idempotency(req, res, next) {
    if (!settings.covers(req.method as string)) {
      next();
      return;
    }
    passThrough(req as Request, res, settings, attemptSettings).then((then) => {
      if (then === 'run') next();
    }, next);
  };
}

/** The short name of {@link idempotencyMiddleware}. */
export const idempotent: typeof idempotencyMiddleware = idempotencyMiddleware;

/** One request through the protocol. `'run'` lets the handler run; else the request is answered. */
async function passThrough(
  req: Request,
  res: ServerResponse,
  settings: Settings,
  attemptSettings: AttemptSettings,
): Promise<'run' | 'answered'> {
  const asked = await identify(req, settings);
  if (asked.kind === 'unprotected') return 'run';
  if (asked.kind === 'key missing') return say(res, STRICT.keyMissing);
  if (asked.kind === 'key invalid') return say(res, STRICT.keyInvalid);
  if (isGone(res)) return 'answered';

  const watchClient = (gone: () => void): void => whenGone(res, gone);
  const context = new AttemptContext(asked.identity, NODE_RUNTIME.newOwner(), watchClient);
  const attempt = new AttemptMachine(context, attemptSettings);
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
      return sendSaved(res, claim.response, attemptSettings);
    case 'new':
      break;
    /* istanbul ignore next -- a claim of another kind is an error before it comes here */
    default:
      claim satisfies never;
  }

  const admitted = await attempt.admit(settings.admit);
  if (admitted === 429) return say(res, STRICT.refused429);
  if (admitted === 503) return say(res, STRICT.refused503);
  if (res.headersSent) {
    await attempt.release();
    return 'answered';
  }

  holdResponse(res, {
    maxBytes: settings.maxResponseBytes,
    isOutcome: (status) => settings.isOutcome(status) || attempt.leavePending(status),
    save: async (response) => verdictOn(await attempt.complete(response), context, attemptSettings),
    onGone: () => AttemptContext.clientGone(context),
    report: (detail) => publish('anomaly', context, { detail }),
  });
  req.idempotency = context;
  attempt.start();
  return 'run';
}

/** What leaves in place of the handler's answer, when that may not. */
function verdictOn(saving: Saving, context: Attempt, settings: AttemptSettings): Verdict {
  if (saving.kind === 'saved') return 'send';
  if (saving.kind === 'unsaved') return (res) => say(res, STRICT.outcomeNotSaved);
  const { found } = saving;
  if (found === undefined) return (res) => say(res, STRICT.pending);
  if (found.fingerprint !== context.fingerprint) return (res) => say(res, STRICT.conflict);
  const { response } = found;
  if (response !== undefined) return (res) => sendSaved(res, response, settings);
  return (res) => say(res, found.state === 'tombstone' ? STRICT.expired : STRICT.pending);
}

function sendSaved(
  res: ServerResponse,
  response: SavedResponse,
  { store }: AttemptSettings,
): 'answered' {
  if (!response.kept) return say(res, STRICT.notKept);
  replay(res, response, nameOf(store));
  return 'answered';
}

function say(res: ServerResponse, ours: Answer): 'answered' {
  answer(res, ours);
  return 'answered';
}

import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import {
  IdempotencyError,
  type IdempotencyOptions,
  type IdempotencyStore,
  idempotencyMiddleware,
  type Recovery,
  type RegisteredTransaction,
  type RunningAttempt,
} from '../index.ts';
import type { Label } from './label.ts';
import { type LabelOperation, labelFingerprint, parseLabelOperation } from './label-operation.ts';
import { type LabelCreated, labelCreated } from './label-response.ts';
import { refuse } from './refusal.ts';
import { readRequestBody } from './request-body.ts';
import { unlessBusy } from './unless-busy.ts';

/** What the route asks of its surroundings, and options of the middleware that it leaves open. */
export interface LabelsRouterOptions extends Omit<IdempotencyOptions, Settled> {
  /** A store for this route alone: a record is kept under the bare request id. */
  readonly store: IdempotencyStore;
  /** The business action. It runs once for a request id, or again as `recovery` allows. */
  readonly createLabel: CreateLabel;
}

/** What follows from the route itself. */
type Settled = 'fingerprint' | 'key' | 'operation' | 'methods' | 'required';

/**
 * Makes a label, or rejects. Then nobody knows how far it came, and its key stays pending; but in
 * a transaction, which is rolled back.
 *
 * `tx` is that transaction, under `recovery: transactional(…)`: what `createLabel` writes with it
 * is there when its answer is, and else not. Without an adapter, on a SqliteStore, it has to answer
 * the label itself and no promise.
 */
export type CreateLabel = (
  operation: LabelOperation,
  context: RunningAttempt,
  tx: RegisteredTransaction,
) => Label | PromiseLike<Label>;

/**
 * `POST /labels`: one label for one request id, however often it is asked for.
 *
 * Each handler is one check and is complete before the next one starts. Nothing touches the store
 * or calls back until all have passed. Other paths are passed on, also `/Labels` and `/labels/`.
 *
 * Mount it before body parsers: it reads the body itself, to see all of it.
 *
 * @throws {TypeError} `createLabel` is no function.
 * @throws {IdempotencyError} `store_invalid`, `option_invalid`.
 */
export function labelsRouter({ store, createLabel, ...options }: LabelsRouterOptions): Router {
  if (typeof createLabel !== 'function') {
    throw new TypeError(
      `Expected createLabel to be a function, got ${typeof createLabel}. ` +
        'Pass one that makes a label and answers it.',
    );
  }
  const router = express.Router({ caseSensitive: true, strict: true });
  router.all(
    '/labels',
    requirePost,
    requireJson,
    readOperation,
    idempotencyMiddleware(store, {
      ...options,
      key: (req) => req.body.request_id,
      operation: false,
      fingerprint: (req) => labelFingerprint(req.body),
    }),
    answerWithLabel(createLabel, options.recovery),
  );
  return router;
}

const BODY_MAX_BYTES = 4096;
const JSON_TYPE = /^application\/json[ \t]*(?:;.*)?$/i;

function requirePost(req: Request, res: Response, next: NextFunction): void {
  if (req.method === 'POST') next();
  else refuse(res.setHeader('Allow', 'POST'), 'method_not_allowed');
}

/** A body in a content coding, such as gzip, is not JSON as it stands. */
function requireJson(req: Request, res: Response, next: NextFunction): void {
  const types = req.headersDistinct['content-type'] ?? [];
  const isJson = types.length === 1 && JSON_TYPE.test(types[0] ?? '');
  const coding = req.headers['content-encoding'] ?? 'identity';
  if (isJson && coding.toLowerCase() === 'identity') next();
  else refuse(res, 'unsupported_media_type');
}

/** Leaves the operation in `req.body`. The key must be the request id, byte for byte. */
async function readOperation(req: Request, res: Response, next: NextFunction): Promise<void> {
  try {
    const body = await readRequestBody(req, BODY_MAX_BYTES);
    if (body.kind === 'aborted') return;
    if (body.kind === 'too_large') return refuse(res, 'payload_too_large');
    const operation = parseLabelOperation(body.bytes);
    const keys = req.headersDistinct['idempotency-key'] ?? [];
    const isSame = keys.length === 1 && keys[0] === operation?.request_id;
    if (operation === undefined || !isSame) return refuse(res, 'invalid_request');
    req.body = operation;
    next();
  } catch (error) {
    next(error);
  }
}

function answerWithLabel(createLabel: CreateLabel, recovery?: Recovery): RequestHandler {
  const isTransaction = recovery?.mode === 'transactional';
  const commitsItself = isTransaction && recovery.adapter === undefined;
  return async function answerLabel(req, res, next) {
    const context = req.idempotency as RunningAttempt;
    try {
      if (commitsItself) {
        await unlessBusy(() => commitLabel(req, context, createLabel), isNotBegun);
        return;
      }
      const label = await createLabel(req.body, context, isTransaction ? context.tx : undefined);
      send(res, labelCreated(label, req.baseUrl));
    } catch (thrown) {
      next(typeof thrown === 'object' && thrown !== null ? thrown : notAnError(thrown));
    }
  };
}

/** Express would take nothing, or `'route'`, for leave to go on, and its 404 would be saved. */
function notAnError(cause: unknown): Error {
  return new Error('createLabel threw a value that is no Error. Throw an Error.', { cause });
}

/** Makes the label, saves the answer and commits both without a pause; only then it is sent. */
function commitLabel(req: Request, context: RunningAttempt, createLabel: CreateLabel): void {
  context.commitSync((tx) => {
    const label = createLabel(req.body, context, tx);
    // `commitSync` has a sentence for a promise, and rolls back.
    return 'then' in label ? (label as never) : labelCreated(label, req.baseUrl);
  });
}

/** Another process had the file for as long as this one could wait, and nothing was run. */
function isNotBegun(error: unknown): boolean {
  return error instanceof IdempotencyError && error.code === 'store_busy';
}

/** `res.status(201).json(…)` would do as well, but would answer other bytes and an ETag more. */
function send(res: Response, { status, headers, body }: LabelCreated): void {
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.end(body);
}

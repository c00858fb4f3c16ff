import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import {
  type Attempt,
  type IdempotencyOptions,
  type IdempotencyStore,
  idempotencyMiddleware,
} from '../index.ts';
import { entityTagsOf, type Label } from './label.ts';
import { type LabelOperation, labelFingerprint, parseLabelOperation } from './label-operation.ts';
import { refuse, sendJson } from './refusal.ts';
import { readRequestBody } from './request-body.ts';

/** What the route asks of its surroundings, and options of the middleware that it leaves open. */
export interface LabelsRouterOptions extends Omit<IdempotencyOptions, Settled> {
  /** A store for this route alone: a record is kept under the bare request id. */
  readonly store: IdempotencyStore;
  /** The business action. It runs at most once for a request id. */
  readonly createLabel: CreateLabel;
}

/** What follows from the route itself. */
type Settled = 'fingerprint' | 'key' | 'operation' | 'methods' | 'required';

/** Makes a label, or rejects: then its key stays pending, since nobody knows how far it came. */
export type CreateLabel = (
  operation: LabelOperation,
  context: Attempt,
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
    answerWithLabel(createLabel),
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

/** `res.status(201).json(…)` would do as well, but would answer other bytes and an ETag more. */
function answerWithLabel(createLabel: CreateLabel): RequestHandler {
  return async function answerLabel(req, res, next) {
    try {
      const label = await createLabel(req.body, req.idempotency as Attempt);
      const { request_id, label_id } = label;
      res.setHeader('Location', `${req.baseUrl}/labels/${label_id}`);
      res.setHeader('ETag', entityTagsOf(label));
      sendJson(res, 201, JSON.stringify({ request_id, state: 'created', label_id }));
    } catch (error) {
      next(error);
    }
  };
}

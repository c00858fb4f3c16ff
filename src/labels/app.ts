import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { entityTagsOf, type Label } from './label.ts';
import { refuse, sendJson } from './refusal.ts';
import { type LabelsRouterOptions, labelsRouter } from './router.ts';

/** What the app asks of its surroundings. */
export interface LabelsAppOptions extends LabelsRouterOptions {
  /** The label that `GET /labels/:label_id` shows, or `undefined` when there is none. */
  readonly findLabel: (label_id: string) => PromiseLike<Label | undefined>;
  /** Is told of each error that a client was answered 500 for. @default console.error */
  readonly report?: (error: unknown) => void;
}

/** The labels service as an Express app: makes labels, shows them, and knows nothing else. */
export function labelsApp({ findLabel, report, ...options }: LabelsAppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(labelsRouter(options));
  app.get(LABEL_PATH, showLabel(findLabel));
  app.use(answerNotFound);
  app.use(answerError(report ?? console.error));
  return app;
}

/** As a pattern, so that no other path, `/labels/%` among them, is more than not found. */
const LABEL_PATH = /^\/labels\/(?<label_id>[A-Za-z0-9_-]+)$/;

function showLabel(findLabel: LabelsAppOptions['findLabel']) {
  return async function sendLabel(req: Request, res: Response, next: NextFunction): Promise<void> {
    try {
      const label = await findLabel(String(req.params['label_id']));
      if (label === undefined) return next();
      const { request_id, parcel_id, label_id } = label;
      res.setHeader('ETag', entityTagsOf(label));
      sendJson(res, 200, JSON.stringify({ request_id, parcel_id, state: 'created', label_id }));
    } catch (error) {
      next(error);
    }
  };
}

function answerNotFound(_req: Request, res: Response): void {
  refuse(res, 'not_found');
}

/** Express knows an error handler by its four parameters. What went wrong is not the client's. */
function answerError(report: (error: unknown) => void) {
  return function sendError(error: unknown, _req: Request, res: Response, next: NextFunction) {
    report(error);
    if (res.headersSent) return next(error);
    refuse(res, 'internal_error');
  };
}

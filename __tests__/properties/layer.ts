import { gunzipSync } from 'node:zlib';
import type { RequestHandler, Response } from 'express';
import onHeaders from 'on-headers';
import type { WireAnswer } from '../http/wire.ts';

const compression = require('compression') as (options: object) => RequestHandler;
const session = require('express-session') as (options: object) => RequestHandler;

const SESSION = { secret: 's', resave: false, genid: () => 'id' };

const LAYERS = {
  compression: () => compression({ threshold: 0 }),
  session: () => session({ ...SESSION, saveUninitialized: true }),
  'unused session': () => session({ ...SESSION, saveUninitialized: false }),
  'header at the head': () => (_req, res, next) => {
    onHeaders(res, () => res.setHeader('X-Late', `${res.getHeader('X-Late') ?? ''}late`));
    next();
  },
  'own writeHead': wrapping('writeHead', (res) => res.setHeader('X-Head', '1')),
  'own write': wrapping('write', () => undefined),
  'own end': wrapping('end', () => undefined),
} satisfies Record<string, () => RequestHandler>;

export type LayerName = keyof typeof LAYERS;

export const layerNames: LayerName[] = Object.keys(LAYERS) as LayerName[];

/** Middleware that changes, or replaces, methods of the response. */
export function layer(name: LayerName): RequestHandler {
  return LAYERS[name]();
}

/** The answer before compression, and without what a session signs. */
export function withoutLayers(answer: WireAnswer): WireAnswer {
  const isZipped = answer.lines.some((line) => /^content-encoding: gzip/i.test(line));
  const lines = answer.lines.map((line) => line.replace(/connect\.sid=[^;]*/, 'connect.sid=x'));
  if (!isZipped || answer.body.length === 0) return { ...answer, lines };
  const plain = lines.filter((line) => !/^content-length/i.test(line));
  return { ...answer, lines: plain, body: gunzipSync(answer.body) };
}

function wrapping(method: 'write' | 'writeHead' | 'end', before: (res: Response) => void) {
  return (): RequestHandler => (_req, res, next) => {
    const wrapped = res[method] as (...args: unknown[]) => unknown;
    Object.assign(res, {
      [method](this: Response, ...args: unknown[]) {
        before(this);
        return wrapped.apply(this, args);
      },
    });
    next();
  };
}

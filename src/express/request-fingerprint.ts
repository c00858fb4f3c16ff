import type { Request } from 'express';
import { fingerprintOf } from '../core/fingerprint.ts';
import { bodyParts } from './request-body.ts';

/**
 * The default fingerprint: method, full URL, media type without parameters, and what the handler
 * can see of the body. Bodies that parse to the same value are one request, unless `req.rawBody`
 * keeps their bytes.
 */
export function requestFingerprint(req: Request): string | Promise<string> {
  const parts = bodyParts(req);
  return Array.isArray(parts) ? joined(req, parts) : parts.then((settled) => joined(req, settled));
}

function joined(req: Request, body: readonly string[]): string {
  return fingerprintOf([req.method, req.originalUrl, mediaType(req)].concat(body));
}

function mediaType(req: Request): string {
  const type = req.headers['content-type'] ?? '';
  const end = type.indexOf(';');
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase();
}

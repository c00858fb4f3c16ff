import type { ServerResponse } from 'node:http';

/** The answers of the service that are not a label, each with its status. */
const STATUS = {
  invalid_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  internal_error: 500,
} as const;

/** Answers `{"error":"…"}` with the status that belongs to it. */
export function refuse(res: ServerResponse, error: keyof typeof STATUS): void {
  sendJson(res, STATUS[error], `{"error":"${error}"}`);
}

/**
 * Answers exactly this text. `res.json()` would add a charset to the type and invent an ETag.
 */
export function sendJson(res: ServerResponse, status: number, text: string): void {
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  res.end(text);
}

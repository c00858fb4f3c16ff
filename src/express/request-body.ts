import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Request } from 'express';
import { canonicalJson } from '../core/canonical-json.ts';
import { IdempotencyError } from '../core/errors.ts';
import { digestOf } from '../core/fingerprint.ts';

/**
 * What the handler can see of the body, as parts of a fingerprint. Whether the body was read is
 * judged by the stream, never by `req.body`: Express 4's parsers leave `{}` where they parsed
 * nothing.
 *
 * @throws {IdempotencyError} `body_not_read`, `body_not_usable`.
 */
export function bodyParts(req: Request): string[] | Promise<string[]> {
  const { rawBody, file, files } = req as Request & Partial<Uploaded>;
  if (isBytes(rawBody)) return ['raw', digestOf(rawBody)];
  const uploads = uploadsOf(file, files);
  if (uploads.length > 0) return formParts(req.body, uploads);
  const body: unknown = req.body;
  if (hasBody(req)) {
    if (!req.readableDidRead) throw notRead();
    if (body === undefined) throw notKept();
  } else if (isNothing(body)) return ['none'];
  if (typeof body === 'string') return ['text', body];
  return isBytes(body) ? ['bytes', digestOf(body)] : ['json', canonicalJson(body)];
}

/** What a parser may have left on the request: raw bytes, and the files of multer. */
interface Uploaded {
  readonly rawBody: unknown;
  readonly file: unknown;
  readonly files: unknown;
}

/** One file of multer, in memory (`buffer`) or on disk (`path`). */
interface Upload {
  readonly fieldname?: unknown;
  readonly originalname?: unknown;
  readonly mimetype?: unknown;
  readonly buffer?: unknown;
  readonly path?: unknown;
}

function hasBody(req: Request): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers;
  return coding !== undefined || (length !== undefined && Number(length) !== 0);
}

/** No body: nothing, or the empty object that Express 4's parsers leave in its place. */
function isNothing(body: unknown): boolean {
  if (body === undefined || body === null) return true;
  return typeof body === 'object' && !isBytes(body) && Object.keys(body).length === 0;
}

function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value);
}

/** `req.file`, and `req.files` as a list or by field. */
function uploadsOf(file: unknown, files: unknown): readonly Upload[] {
  if (file === undefined && files === undefined) return NONE;
  const lists = Array.isArray(files) ? [files] : Object.values(files ?? {});
  return [...(file === undefined ? [] : [file]), ...lists.flat()] as Upload[];
}

const NONE: readonly Upload[] = [];

async function formParts(body: unknown, uploads: readonly Upload[]): Promise<string[]> {
  const parts = ['form', canonicalJson(body ?? {})];
  for (const { fieldname, originalname, mimetype, buffer, path } of uploads) {
    const name = canonicalJson([fieldname, originalname, mimetype]);
    if (isBytes(buffer)) parts.push(name, digestOf(buffer));
    else if (typeof path === 'string') parts.push(name, await digestOfFile(path));
    else throw unreachableFile();
  }
  return parts;
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const OR_FINGERPRINT = 'or give the `fingerprint` option';

function notRead(): IdempotencyError {
  return new IdempotencyError(
    'body_not_read',
    'Expected the request body to be parsed already, got a body that nothing has read. ' +
      `Mount express.json(), or the parser of its media type, before, ${OR_FINGERPRINT}.`,
  );
}

function notKept(): IdempotencyError {
  return new IdempotencyError(
    'body_not_read',
    'Expected the request body in req.body, req.rawBody or req.files, got a body that was read ' +
      `and is in none of them. Keep it in req.rawBody as a Buffer, ${OR_FINGERPRINT}.`,
  );
}

function unreachableFile(): IdempotencyError {
  return new IdempotencyError(
    'body_not_usable',
    'Expected uploaded files with a `buffer` or a `path`, as multer leaves them, got neither. ' +
      'Give the `fingerprint` option.',
  );
}

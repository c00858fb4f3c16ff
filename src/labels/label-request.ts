import { isLabelOperation, type LabelOperation } from './label-operation.ts';

/** Where the request goes, and what may call it off. */
export interface LabelRequestOptions {
  /** What `/labels` is appended to, such as `https://api.example.com` or `http://host/v1`. */
  readonly baseUrl: string | URL;
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The request that asks for a label, to be given to `fetch`.
 *
 * Each call with one operation makes a new request with the same `Idempotency-Key` and the same
 * body bytes: the key belongs to the intent, not to the message that carries it. Store the
 * operation before the first call, and build every attempt from what was stored.
 *
 * @throws {TypeError} the operation is one that the service would refuse.
 *
 * @example
 * ```ts
 * import { buildLabelRequest } from 'express-idempotent/labels';
 *
 * const operation = { request_id: 'label-req-7', parcel_id: 'parcel-42' };
 * const response = await fetch(buildLabelRequest(operation, { baseUrl: 'http://127.0.0.1:3000' }));
 * ```
 */
export function buildLabelRequest(
  operation: LabelOperation,
  { baseUrl, signal }: LabelRequestOptions,
): Request {
  if (!isLabelOperation(operation)) {
    throw new TypeError(
      'Expected an operation whose request_id and parcel_id are non-empty strings of ' +
        'A-Z, a-z, 0-9, _ and -, got another value. Make both ids of these characters.',
    );
  }
  const { request_id, parcel_id } = operation;
  return new Request(`${String(baseUrl).replace(/\/+$/, '')}/labels`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': request_id },
    body: JSON.stringify({ request_id, parcel_id }),
    signal: signal ?? null,
  });
}

import { entityTagsOf, type Label } from './label.ts';

/** What a request that made a label is answered with, in words that `done` takes, too. */
export interface LabelCreated {
  readonly status: 201;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

/**
 * The answer that a label was made: for `recover`, and wherever else an answer is given in place of
 * the route. It is the route's own, byte for byte.
 *
 * `baseUrl` is where the route is mounted, as `req.baseUrl` says it.
 *
 * @example
 * ```ts
 * import { done } from 'express-idempotent';
 * import { labelCreated } from 'express-idempotent/labels';
 *
 * const label = { label_id: 'label-901', request_id: 'label-req-7', parcel_id: 'parcel-42' };
 * export const outcome = done(labelCreated(label));
 * ```
 */
export function labelCreated(label: Label, baseUrl: string = ''): LabelCreated {
  const { request_id, label_id } = label;
  return {
    status: 201,
    headers: {
      Location: `${baseUrl}/labels/${label_id}`,
      ETag: entityTagsOf(label),
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ request_id, state: 'created', label_id }),
  };
}

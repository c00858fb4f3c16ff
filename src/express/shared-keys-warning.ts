import type { IncomingMessage } from 'node:http';

const WARNED = Symbol.for('express-idempotent.warned-of-shared-keys');

/**
 * Says once a process that callers who identify themselves share their keys, since then whoever
 * sends the key and the request of another is given that one's response.
 */
export function warnOfSharedKeys(req: IncomingMessage, warn: (message: string) => void): void {
  const { authorization, cookie } = req.headers;
  if (authorization === undefined && cookie === undefined) return;
  const place = globalThis as { [WARNED]?: true };
  if (place[WARNED]) return;
  place[WARNED] = true;
  warn(
    'Requests carry an Authorization or a Cookie header, and no `tenant` option is given: ' +
      'all callers share their idempotency keys. Give `tenant: (req) => …` with the name of ' +
      'the caller, or `tenant: () => "all"` when sharing is meant.',
  );
}

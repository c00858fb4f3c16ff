import type { Server, ServerResponse } from 'node:http';

/**
 * Follows the answers of a server from its start, so that it can be ended without cutting one off.
 * The function returned accepts no connection any more, closes those that are idle and each other
 * one after its answer, and cuts off what is left after `timeoutMs`.
 */
export function drainable(server: Server): (timeoutMs: number) => Promise<void> {
  const answering = new Set<ServerResponse>();
  let isDraining = false;
  // Before the app: its answer may be complete when the listeners after it are called.
  server.prependListener('request', (_req, res) => {
    if (isDraining) res.shouldKeepAlive = false;
    answering.add(res);
    res.once('close', () => answering.delete(res));
  });
  return async function drain(timeoutMs) {
    isDraining = true;
    for (const res of answering) res.shouldKeepAlive = false;
    const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
    await new Promise((resolve) => server.close(resolve));
    clearTimeout(timer);
  };
}

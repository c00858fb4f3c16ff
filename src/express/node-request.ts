import type { IncomingMessage } from 'node:http';

const NODE_MAJOR = Number.parseInt(process.versions.node, 10);

/**
 * Before Node 24 each own property on a request whose prototype Express has swapped costs about
 * 10 microseconds, unless its properties are in dictionary mode. From 24 on that mode costs more.
 */
export function prepareForProperties(req: IncomingMessage, nodeMajor: number = NODE_MAJOR): void {
  if (nodeMajor >= 24) return;
  const fields = req as { _dumped?: boolean | undefined };
  const dumped = fields._dumped;
  delete fields._dumped;
  fields._dumped = dumped;
}

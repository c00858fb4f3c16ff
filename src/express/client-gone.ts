import type { ServerResponse } from 'node:http';

/** Whether nobody is there any more to be answered. */
export function isGone(res: ServerResponse): boolean {
  return res.destroyed || res.closed || (res.socket?.destroyed ?? false);
}

/** Calls `gone` when the connection closes before the answer is written; at once if it has. */
export function whenGone(res: ServerResponse, gone: () => void): void {
  if (res.writableFinished) return;
  if (isGone(res)) {
    gone();
    return;
  }
  res.once('close', () => {
    if (!res.writableFinished) gone();
  });
}

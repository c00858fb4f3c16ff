import type { Socket } from 'node:net';

const SHIELD = Symbol('shield');

type ShieldedSocket = Socket & { [SHIELD]?: Shield };

interface Shield {
  /** Answers that wait for their save on this connection: pipelined ones share it. */
  waiting: number;
  /** Somebody wanted the connection destroyed meanwhile. */
  isDestroyWanted: boolean;
  readonly destroy: Socket['destroy'];
}

/**
 * Keeps `socket` from being destroyed without an error while an answer waits for its save.
 * Express does that when a handler throws after its answer; without the hold, the bytes have
 * left by then. The wish is granted once nothing waits any more.
 */
export function raiseShield(socket: Socket): void {
  shieldOf(socket).waiting += 1;
}

/** Ends one {@link raiseShield}. */
export function lowerShield(socket: Socket): void {
  const shield = shieldOf(socket);
  shield.waiting -= 1;
  if (shield.waiting === 0 && shield.isDestroyWanted) socket.destroySoon?.();
}

/** Destroys `socket` now, whatever waits on it. */
export function destroyThroughShield(socket: Socket): void {
  shieldOf(socket).destroy.call(socket);
}

/** Destroys `socket` once nothing waits on it any more, and what was written has left. */
export function destroyBehindShield(socket: Socket): void {
  shieldOf(socket).isDestroyWanted = true;
}

/** One for the life of a connection. */
function shieldOf(socket: ShieldedSocket): Shield {
  const raised = socket[SHIELD];
  if (raised !== undefined) return raised;
  const shield = { waiting: 0, isDestroyWanted: false, destroy: socket.destroy };
  socket[SHIELD] = shield;
  socket.destroy = destroy;
  return shield;
}

function destroy(this: ShieldedSocket, error?: Error): ShieldedSocket {
  const shield = shieldOf(this);
  // Once it is ended nothing can leave any more: the client has gone.
  if (shield.waiting === 0 || error || this.writableEnded) return shield.destroy.call(this, error);
  shield.isDestroyWanted = true;
  return this;
}

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
  const shield = (socket as ShieldedSocket)[SHIELD] ?? putShield(socket);
  shield.waiting += 1;
}

/** Ends one {@link raiseShield}. */
export function lowerShield(socket: Socket): void {
  const shield = (socket as ShieldedSocket)[SHIELD];
  if (shield === undefined) return;
  shield.waiting -= 1;
  if (shield.waiting === 0 && shield.isDestroyWanted) socket.destroySoon?.();
}

/** Destroys `socket` now, whatever waits on it. */
export function destroyThroughShield(socket: Socket): void {
  const shield = (socket as ShieldedSocket)[SHIELD];
  if (shield !== undefined) shield.destroy.call(socket);
}

/** Destroys `socket` as soon as no answer waits on it and what was written has left. */
export function destroyBehindShield(socket: Socket): void {
  const shield = (socket as ShieldedSocket)[SHIELD];
  if (shield === undefined || shield.waiting === 0) socket.destroySoon?.();
  else shield.isDestroyWanted = true;
}

function putShield(socket: ShieldedSocket): Shield {
  const shield = { waiting: 0, isDestroyWanted: false, destroy: socket.destroy };
  socket[SHIELD] = shield;
  socket.destroy = destroy;
  return shield;
}

function destroy(this: ShieldedSocket, error?: Error): ShieldedSocket {
  const shield = this[SHIELD] as Shield;
  // Once it is ended nothing can leave any more: the client has gone.
  if (shield.waiting === 0 || error || this.writableEnded) return shield.destroy.call(this, error);
  shield.isDestroyWanted = true;
  return this;
}

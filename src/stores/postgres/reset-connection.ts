/**
 * Drops the connection of a client of `pg` at once. What the kernel has not sent yet must not
 * arrive later, when nobody waits for it any more: RST takes it back, where FIN would go on sending
 * it.
 */
export function resetConnection(client: object): void {
  const { stream } =
    (client as { readonly connection?: { readonly stream?: Socket } }).connection ?? {};
  // The stream of TLS has the socket below it.
  const socket = stream?._parent ?? stream;
  try {
    socket?.resetAndDestroy?.();
  } catch {
    // A connection of another kind: giving it back with an error destroys it.
  }
}

interface Socket {
  readonly _parent?: Socket;
  resetAndDestroy?(): void;
}

import { callLater } from './first-byte.ts';
import { type HeldResponse, HOLD, type Hold } from './hold.ts';
import { destroyBehindShield, destroyThroughShield } from './socket-shield.ts';

const GRACE_MS = 30_000;

/** The last gate: every byte of a response passes here. */
export function writeRaw(this: HeldResponse, ...args: unknown[]): boolean {
  const hold = this[HOLD];
  const [data, , callback] = args;
  if (hold.stage === 'open') {
    return hold.former._writeRaw.apply(this, args);
  }
  if (typeof data === 'string') {
    const isHead = data === '' || data === this._header;
    // The client is asked for its body: held back, both would wait for ever.
    if (data.startsWith('HTTP/1.1 100')) return hold.former._writeRaw.apply(this, args);
    if (isHead || data.startsWith('HTTP/1.1 1')) {
      if (isHead) this._headerSent = false;
      callLater(callback);
      return true;
    }
  }
  hold.abandon();
  hold.settings.report?.('answered-by-outer');
  return hold.former._writeRaw.apply(this, args);
}

export function emit(this: HeldResponse, ...args: unknown[]): boolean {
  const hold = this[HOLD];
  if (hold.stage !== 'open') {
    // Node has set it by then; a handler that emits the event itself has not.
    if (args[0] === 'close' && this._closed) return leave(this, hold);
    if (args[0] === 'prefinish') return false;
  }
  return hold.former.emit.apply(this, args);
}

export function destroy(this: HeldResponse, ...args: unknown[]): HeldResponse {
  const hold = this[HOLD];
  if (hold.stage === 'open') {
    hold.former.destroy.apply(this, args);
    return this;
  }
  // Node itself, for a pipelined answer whose turn will not come.
  if (this.socket === null && this.req.socket.destroyed) {
    leave(this, hold);
    return this;
  }
  if (this.finished) {
    hold.isDestroyWanted = true;
    this.destroyed = true;
    if (this.socket) destroyBehindShield(this.socket);
    return this;
  }
  hold.abandon();
  hold.settings.report?.('destroyed');
  const { socket } = this;
  hold.former.destroy.apply(this, args);
  if (socket) destroyThroughShield(socket);
  return this;
}

/** Outer compression keeps listeners for `drain` to itself until its own head is built. */
export function on(this: HeldResponse, ...args: unknown[]): HeldResponse {
  const hold = this[HOLD];
  if (hold.stage === 'open' || args[0] !== 'drain') hold.former.on.apply(this, args);
  else hold.drainListeners.push(args[1]);
  return this;
}

/** The client is gone. The work goes on, so the handler is not told while it may still answer. */
function leave(res: HeldResponse, hold: Hold): boolean {
  res.destroyed = hold.isDestroyWanted;
  res._closed = false;
  if (hold.isGone) return false;
  hold.isGone = true;
  if (!res.finished) {
    const tell = (): void => {
      hold.isCloseTold = true;
      res.destroyed = true;
      res._closed = true;
      hold.former.emit.call(res, 'close');
    };
    hold.graceTimer = setTimeout(tell, hold.settings.graceMs ?? GRACE_MS).unref();
  }
  hold.settings.onGone?.();
  return true;
}

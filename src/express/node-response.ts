import { EventEmitter } from 'node:events';
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Method<Result> = (...args: unknown[]) => Result;

/**
 * Node's response with the fields behind its public getters. `headersSent` follows `_header`,
 * `writableEnded` follows `finished`; a test notices when a new Node changes what is used here.
 */
export interface NodeResponse {
  readonly socket: Socket | null;
  readonly req: { readonly socket: Socket };
  statusCode: number;
  statusMessage: string | undefined;
  finished: boolean;
  destroyed: boolean;
  _closed: boolean;
  _header: string | null;
  _headerSent: boolean;
  _contentLength: number | null;
  _hasBody: boolean;
  _last: boolean;
  _defaultKeepAlive: boolean;
  _removedConnection: boolean;
  _removedContLen: boolean;
  _removedTE: boolean;
  _sent100: boolean | undefined;
  _trailer: string;
  chunkedEncoding: boolean;
  outputSize: number;
  sendDate: boolean;
  shouldKeepAlive: boolean;
  strictContentLength: boolean;
  readonly writableFinished: boolean;
  writeHead: Method<NodeResponse>;
  /** Gone since Node 26. */
  writeHeader: Method<NodeResponse> | undefined;
  write: Method<boolean>;
  end: Method<NodeResponse>;
  destroy: Method<NodeResponse>;
  emit: Method<boolean>;
  on: Method<NodeResponse>;
  once: Method<NodeResponse>;
  _send: Method<boolean>;
  _writeRaw: Method<boolean>;
  _storeHeader: Method<void>;
  _implicitHeader: Method<void>;
  setHeader(name: string, value: string | readonly string[]): unknown;
  appendHeader(name: string, value: string): unknown;
  removeHeader(name: string): void;
  hasHeader(name: string): boolean;
  getHeader(name: string): unknown;
  getHeaderNames(): string[];
  getRawHeaderNames(): string[];
  /** Express's, on a response that has passed an app of Express. */
  append?(name: string, value: string): unknown;
}

/** Node's own methods, as they were when this package was loaded. */
export const native: Pick<
  NodeResponse,
  'writeHead' | 'write' | 'end' | '_send' | '_writeRaw' | '_storeHeader' | '_implicitHeader' | 'on'
> = {
  ...pick(ServerResponse.prototype as unknown as NodeResponse),
  on: EventEmitter.prototype.on as unknown as NodeResponse['on'],
};

function pick(prototype: NodeResponse): Omit<typeof native, 'on'> {
  const { writeHead, write, end, _send, _writeRaw, _storeHeader, _implicitHeader } = prototype;
  return { writeHead, write, end, _send, _writeRaw, _storeHeader, _implicitHeader };
}

/** Whether nothing stands between `res` and Node: what is built now is what Node would send. */
export function isUnpatched(res: NodeResponse): boolean {
  return (
    res.writeHead === native.writeHead &&
    res.write === native.write &&
    res.end === native.end &&
    res._writeRaw === native._writeRaw &&
    res._send === native._send &&
    res._storeHeader === native._storeHeader &&
    res._implicitHeader === native._implicitHeader
  );
}

/** What Node's `writeHead` may change beside the status, so that a head can be built again. */
export class HeadFields {
  readonly #hasBody: boolean;
  readonly #last: boolean;
  readonly #defaultKeepAlive: boolean;
  readonly #removedConnection: boolean;
  readonly #removedContLen: boolean;
  readonly #removedTE: boolean;
  readonly #chunkedEncoding: boolean;
  readonly #shouldKeepAlive: boolean;

  constructor(res: NodeResponse) {
    this.#hasBody = res._hasBody;
    this.#last = res._last;
    this.#defaultKeepAlive = res._defaultKeepAlive;
    this.#removedConnection = res._removedConnection;
    this.#removedContLen = res._removedContLen;
    this.#removedTE = res._removedTE;
    this.#chunkedEncoding = res.chunkedEncoding;
    this.#shouldKeepAlive = res.shouldKeepAlive;
  }

  /** The response as before its head was built. */
  restore(res: NodeResponse): void {
    res._header = null;
    res._headerSent = false;
    res._contentLength = null;
    res._hasBody = this.#hasBody;
    res._last = this.#last;
    res._defaultKeepAlive = this.#defaultKeepAlive;
    res._removedConnection = this.#removedConnection;
    res._removedContLen = this.#removedContLen;
    res._removedTE = this.#removedTE;
    res.chunkedEncoding = this.#chunkedEncoding;
    res.shouldKeepAlive = this.#shouldKeepAlive;
  }
}

const NODE_MAJOR = Number.parseInt(process.versions.node, 10);

/**
 * Before Node 24 each own method on a response whose prototype Express has swapped costs about
 * 12 microseconds, unless its properties are in dictionary mode. From 24 on that mode costs more.
 */
export function prepareForMethods(res: NodeResponse, nodeMajor: number = NODE_MAJOR): void {
  if (nodeMajor >= 24) return;
  const sent100 = res._sent100;
  delete (res as Partial<NodeResponse>)._sent100;
  res._sent100 = sent100;
}

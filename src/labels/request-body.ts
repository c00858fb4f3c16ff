import type { IncomingMessage } from 'node:http';

/** What came: all the bytes, or why there are none. */
export type RequestBody =
  | { readonly kind: 'complete'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'aborted' };

/**
 * Reads the body as the bytes that came, up to `maxBytes` and one more, which tells that there are
 * too many. It is `too_large` as soon as that byte is there, not when the client has sent all.
 * What a client sends after it is thrown away unseen: were it left in the socket, a client that
 * writes before it reads would wait for ever, and the next request on the connection with it.
 *
 * Rejects when the body has been read already: its bytes are gone.
 */
export async function readRequestBody(
  req: IncomingMessage,
  maxBytes: number,
): Promise<RequestBody> {
  if (req.readableDidRead) {
    throw new Error(
      'Expected a request body that nothing has read, got one that was read before. ' +
        'Mount the labels router before express.json() and other body parsers.',
    );
  }
  return collect(req, maxBytes);
}

function collect(req: IncomingMessage, maxBytes: number): Promise<RequestBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;

    // With no listener the stream flows on, and drops what still comes.
    function settle(body: RequestBody): void {
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(body);
    }
    function onData(chunk: Buffer): void {
      length += chunk.length;
      if (length > maxBytes) settle({ kind: 'too_large' });
      else chunks.push(chunk);
    }
    function onEnd(): void {
      settle({ kind: 'complete', bytes: Buffer.concat(chunks) });
    }
    function onClose(): void {
      settle({ kind: 'aborted' });
    }
    req.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

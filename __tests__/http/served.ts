import { createServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer with its header lines as they came: Node folds repeated names in `headers`. */
export interface Answered {
  readonly status: number;
  readonly lines: readonly string[];
  readonly body: string;
}

export interface Asking {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  /** Aborts the request when it is aborted. */
  readonly signal?: AbortSignal;
}

/** A server on a port of its own, and a client of it. */
export interface Served extends AsyncDisposable {
  readonly port: number;
  ask(asking?: Asking): Promise<Answered>;
}

export async function serve(listener: RequestListener): Promise<Served> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ask: (asking = {}) => ask(port, asking),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** JSON unless `headers` say otherwise; POST /labels unless `asking` does. */
function ask(port: number, asking: Asking): Promise<Answered> {
  const { method = 'POST', path = '/labels', key, body, signal } = asking;
  const headers = {
    ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...asking.headers,
  } as IncomingHttpHeaders;
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method, path, headers, agent: false };
    const sent = request({ ...options, ...(signal && { signal }) }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () =>
        resolve({
          status: res.statusCode as number,
          lines: linesOf(res.rawHeaders),
          body: Buffer.concat(chunks).toString('latin1'),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function linesOf(rawHeaders: readonly string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  return lines;
}

/** The values of the lines of this name, in order. */
export function valuesOf(answered: Answered, name: string): string[] {
  const prefix = `${name}: `.toLowerCase();
  const lines = answered.lines.filter((line) => line.toLowerCase().startsWith(prefix));
  return lines.map((line) => line.slice(prefix.length));
}

/** What a replay must repeat: everything but the time of the answer. */
export function withoutDate(answered: Answered): Answered {
  return { ...answered, lines: answered.lines.filter((line) => !line.startsWith('Date: ')) };
}

import { connect } from 'node:net';

/** An answer as it was on the wire: header lines are neither folded nor renamed. */
export interface RawAnswer {
  readonly status: number;
  readonly lines: readonly string[];
  readonly body: string;
  /** The values of every line of this name, in order. */
  values(name: string): string[];
}

/** Writes the parts one after another, and reads one answer, or what came until the close. */
export async function exchange(
  port: number,
  parts: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  for await (const part of parts) socket.write(part);
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    if (isComplete(received)) break;
  }
  socket.destroy();
  return parseAnswer(received);
}

/** The head and the body of a request, with the length of the body in it. */
export function rawRequest(
  line: string,
  headers: readonly string[] = [],
  body: string | Buffer = '',
): Buffer {
  const bytes = Buffer.from(body);
  const length = bytes.length === 0 ? [] : [`Content-Length: ${bytes.length}`];
  const head = [`${line} HTTP/1.1`, 'Host: labels', ...headers, ...length, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head), bytes]);
}

export function parseAnswer(received: Buffer): RawAnswer {
  const { head, body } = split(received);
  const [statusLine = '', ...lines] = head.split('\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    lines,
    body,
    values(name) {
      const prefix = `${name.toLowerCase()}: `;
      const found = lines.filter((line) => line.toLowerCase().startsWith(prefix));
      return found.map((line) => line.slice(prefix.length));
    },
  };
}

export function isComplete(received: Buffer): boolean {
  const { head, body } = split(received);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length !== undefined && body.length >= Number(length);
}

function split(received: Buffer): { head: string; body: string } {
  const text = received.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return { head: '', body: '' };
  return { head: text.slice(0, end), body: text.slice(end + 4) };
}

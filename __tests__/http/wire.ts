import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** One answer as it was on the wire. */
export interface WireAnswer {
  /** Status lines of 1xx answers that came before. */
  readonly informational: readonly string[];
  readonly statusLine: string;
  /** Header lines in order, names as they came, bytes as Latin-1. */
  readonly lines: readonly string[];
  readonly framing: 'length' | 'chunked' | 'close' | 'none';
  readonly body: Buffer;
  readonly trailers: readonly string[];
  /** Everything that the framing promised has come. */
  readonly isWhole: boolean;
}

export interface WireRequest {
  readonly method?: string;
  readonly path?: string;
  readonly version?: string;
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

export function bytesOf(asked: WireRequest, more: readonly string[] = []): Buffer {
  const { method = 'POST', path = '/', version = '1.1', headers = [], body = '' } = asked;
  const length = body.length === 0 ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const lines = ['Host: test', ...more, ...headers, ...length, '', ''];
  const head = `${method} ${path} HTTP/${version}\r\n${lines.join('\r\n')}`;
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]);
}

/** A client that keeps every byte that it is sent. */
export class Wire {
  readonly socket: Socket;
  isClosed = false;
  readonly #methods: readonly string[];
  #chunks: Buffer[] = [];
  #changed: () => void = () => undefined;

  constructor(to: number | Socket, methods: readonly string[] = ['POST']) {
    this.#methods = methods;
    this.socket = typeof to === 'number' ? connect(to, '127.0.0.1') : to;
    this.socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#changed();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#changed();
    });
  }

  get received(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  send(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  /** Waits for so many whole answers, or for the end of the connection. */
  async answers(count = 1): Promise<WireAnswer[]> {
    for (;;) {
      const answers = parse(this.received, this.#methods, this.isClosed);
      if (this.isClosed || answers.filter(({ isWhole }) => isWhole).length >= count) return answers;
      await this.#more();
    }
  }

  async answer(): Promise<WireAnswer> {
    const [answer] = await this.answers();
    if (answer === undefined) throw new Error('The connection ended without an answer.');
    return answer;
  }

  /** Waits until this text has come, or the connection has ended. */
  async until(text: string): Promise<void> {
    while (!this.isClosed && !this.received.includes(text, 0, 'latin1')) await this.#more();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Waits for more, and a while for what comes right after it: large answers come in pieces. */
  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#changed = resolve;
    });
    for (let seen = 0; seen < this.#chunks.length; ) {
      seen = this.#chunks.length;
      await new Promise(setImmediate);
    }
  }
}

function parse(bytes: Buffer, methods: readonly string[], isClosed: boolean): WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const method = methods[Math.min(answers.length, methods.length - 1)] ?? 'POST';
    const read = parseOne(rest, method, isClosed);
    if (read === undefined) break;
    answers.push(read.answer);
    if (!read.answer.isWhole) break;
    rest = read.rest;
  }
  return answers;
}

interface Read {
  readonly answer: WireAnswer;
  readonly rest: Buffer;
}

function parseOne(bytes: Buffer, method: string, isClosed: boolean): Read | undefined {
  const informational: string[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [statusLine = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    rest = rest.subarray(end + 4);
    if (/^HTTP\/1\.1 1/.test(statusLine)) {
      informational.push(statusLine);
      continue;
    }
    const framed = parseBody(rest, statusLine, lines, method, isClosed);
    return { answer: { informational, statusLine, lines, ...framed.answer }, rest: framed.rest };
  }
}

type Framed = Omit<WireAnswer, 'informational' | 'statusLine' | 'lines'>;

function parseBody(
  rest: Buffer,
  statusLine: string,
  lines: readonly string[],
  method: string,
  isClosed: boolean,
): { answer: Framed; rest: Buffer } {
  if (method === 'HEAD' || /^HTTP\/1\.1 (204|304)/.test(statusLine)) {
    return framed('none', Buffer.alloc(0), [], true, rest);
  }
  if (lines.some((line) => /^transfer-encoding: chunked$/i.test(line))) return parseChunks(rest);
  const length = lines.find((line) => /^content-length: /i.test(line))?.slice(16);
  if (length === undefined) return framed('close', rest, [], isClosed, Buffer.alloc(0));
  const size = Number(length);
  const body = rest.subarray(0, size);
  return framed('length', body, [], body.length === size, rest.subarray(size));
}

function parseChunks(bytes: Buffer): { answer: Framed; rest: Buffer } {
  const parts: Buffer[] = [];
  let rest = bytes;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n');
    if (lineEnd < 0) break;
    const size = Number.parseInt(rest.toString('latin1', 0, lineEnd), 16);
    if (size === 0) {
      const end = rest.indexOf('\r\n\r\n', lineEnd);
      if (end < 0) break;
      const trailers = rest.toString('latin1', lineEnd + 2, end + 2).split('\r\n');
      const named = trailers.filter((line) => line !== '');
      return framed('chunked', Buffer.concat(parts), named, true, rest.subarray(end + 4));
    }
    if (rest.length < lineEnd + 2 + size + 2) break;
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    rest = rest.subarray(lineEnd + 2 + size + 2);
  }
  return framed('chunked', Buffer.concat(parts), [], false, Buffer.alloc(0));
}

function framed(
  framing: WireAnswer['framing'],
  body: Buffer,
  trailers: readonly string[],
  isWhole: boolean,
  rest: Buffer,
): { answer: Framed; rest: Buffer } {
  return { answer: { framing, body, trailers, isWhole }, rest };
}

/** The lines of this name, in order. */
export function linesNamed(answer: WireAnswer, name: string): string[] {
  const prefix = `${name}: `.toLowerCase();
  return answer.lines.filter((line) => line.toLowerCase().startsWith(prefix));
}

/** What a replay must repeat: everything but the time of the answer. */
export function exceptDate(answer: WireAnswer): WireAnswer {
  return { ...answer, lines: answer.lines.filter((line) => !/^date: /i.test(line)) };
}

/** The answer with its body as text, or as a digest where it is long: to be compared. */
export function comparable(answer: WireAnswer): Omit<WireAnswer, 'body'> & { body: string } {
  const { body } = answer;
  if (body.length <= 2000) return { ...answer, body: body.toString('latin1') };
  const digest = createHash('sha256').update(body).digest('hex');
  return { ...answer, body: `${body.length} bytes, ${digest}` };
}

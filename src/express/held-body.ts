const NOTHING = Buffer.alloc(0);

/** The bytes of an answer, copied as the handler wrote them: it may use its buffers again. */
export class HeldBody {
  size = 0;
  /** The only chunk as the handler gave it, if it is text whose characters are its bytes. */
  text: string | undefined;
  #chunks: Buffer[] = [];

  add(chunk: string | Uint8Array, encoding: BufferEncoding | undefined): void {
    const isFirst = this.#chunks.length === 0;
    if (typeof chunk !== 'string') this.#push(Buffer.from(chunk));
    else if (isFirst && isAscii(chunk, encoding)) {
      this.text = chunk;
      this.#push(Buffer.from(chunk, 'latin1'));
      return;
    } else this.#push(Buffer.from(chunk, encoding));
    this.text = undefined;
  }

  /** All of it. The chunks are given away: nothing is kept here. */
  take(): Buffer {
    const chunks = this.takeChunks();
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, this.size);
  }

  takeChunks(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks.length === 0 ? [NOTHING] : chunks;
  }

  #push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.size += bytes.length;
  }
}

function isAscii(chunk: string, encoding: BufferEncoding | undefined): boolean {
  if (encoding && encoding !== 'utf8' && encoding !== 'utf-8') return false;
  return Buffer.byteLength(chunk) === chunk.length;
}

const NOTHING = Buffer.alloc(0);

/** The bytes of an answer, copied as the handler wrote them: it may use its buffers again. */
export class HeldBody {
  size = 0;
  /** The only chunk as the handler gave it, if it is text whose characters are its bytes. */
  text: string | undefined;
  #chunks: Buffer[] = [];

  /** `size` is what Node takes for the number of bytes; for base64 that may be wrong. */
  add(chunk: string | Uint8Array, encoding: BufferEncoding | undefined, size: number): void {
    const isAscii = size === chunk.length && typeof chunk === 'string' && isUtf8(encoding);
    this.text = isAscii && this.size === 0 ? chunk : undefined;
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, isAscii ? 'latin1' : encoding)
        : Buffer.from(chunk);
    this.#chunks.push(bytes);
    this.size += bytes.length;
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
}

function isUtf8(encoding: BufferEncoding | undefined): boolean {
  return !encoding || encoding === 'utf8' || encoding === 'utf-8';
}

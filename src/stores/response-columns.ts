import { RecordTooLargeError } from '../core/errors.ts';
import {
  decodeHead,
  encodeHead,
  encodeSavedResponse,
  type SavedResponse,
} from '../core/saved-response.ts';
import type { Sealing } from './sealing.ts';

/** A saved response in its two columns: encoded, so that later changes do not reach it. */
export interface ResponseColumns {
  readonly head: string;
  readonly body: Uint8Array | null;
}

/** Turns responses into columns and back, sealed when there is a seal. */
export class ResponseCodec {
  readonly #storeName: string;
  readonly #sealing: Sealing;

  constructor(storeName: string, sealing: Sealing) {
    this.#storeName = storeName;
    this.#sealing = sealing;
  }

  /** @throws {RecordTooLargeError} */
  encode(key: string, response: SavedResponse): ResponseColumns | Promise<ResponseColumns> {
    if (response.kept && response.body.byteLength > MAX_BODY_BYTES) {
      throw new RecordTooLargeError(
        `${this.#storeName} keeps bodies of up to ${MAX_BODY_BYTES} bytes.`,
      );
    }
    const sealed = this.#sealing.sealed(key, () => encodeSavedResponse(response));
    if (sealed !== undefined) return sealed.then((body) => ({ head: SEALED, body }));
    return { head: encodeHead(response), body: response.kept ? Buffer.from(response.body) : null };
  }

  /** @throws {IdempotencyError} `record_corrupt`. */
  decode(key: string, head: string, body: Uint8Array): SavedResponse | Promise<SavedResponse> {
    if (head === SEALED) return this.#sealing.opened(key, body);
    this.#sealing.checkUnsealed();
    return decodeHead(head, body);
  }
}

/** What stands in the column of the head of a sealed response. It is no JSON, so it is no head. */
const SEALED = 'sealed';
/** Whatever the server would take, or a driver make of it: it has to arrive within a deadline. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

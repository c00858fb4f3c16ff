import {
  decodeSavedResponse,
  encodeSavedResponse,
  type SavedResponse,
} from '../../core/saved-response.ts';
import type { Sealing } from '../sealing.ts';
import { refuseTooLarge } from './redis-error.ts';

/** Turns responses into the bytes of their key and back, sealed when there is a seal. */
export class ResponseCodec {
  readonly #sealing: Sealing;

  constructor(sealing: Sealing) {
    this.#sealing = sealing;
  }

  /**
   * Encoded at once, so that later changes of `response` do not reach it.
   *
   * @throws {RecordTooLargeError}
   */
  encode(key: string, response: SavedResponse): Buffer | Promise<Buffer> {
    if (response.kept) refuseTooLarge(response.body);
    const plain = encodeSavedResponse(response);
    const sealed = this.#sealing.sealed(key, () => plain);
    return sealed?.then((bytes) => Buffer.concat([Buffer.of(SEALED), bytes])) ?? plain;
  }

  /** @throws {IdempotencyError} `record_corrupt`. */
  decode(key: string, bytes: Buffer): SavedResponse | Promise<SavedResponse> {
    if (bytes[0] === SEALED) return this.#sealing.opened(key, bytes.subarray(1));
    this.#sealing.checkUnsealed();
    return decodeSavedResponse(bytes);
  }
}

/** The first byte of a sealed response; else that is the version of its encoding. */
const SEALED = 0x53;

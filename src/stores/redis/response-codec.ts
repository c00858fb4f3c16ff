import { IdempotencyError } from '../../core/errors.ts';
import {
  decodeSavedResponse,
  encodeSavedResponse,
  type SavedResponse,
} from '../../core/saved-response.ts';
import type { ResponseSeal } from '../seal.ts';
import { refuseTooLarge } from './redis-error.ts';

/** Turns responses into the bytes of their key and back, sealed when there is a seal. */
export class ResponseCodec {
  readonly #seal: ResponseSeal | undefined;
  readonly #acceptUnsealed: boolean;

  constructor(seal: ResponseSeal | undefined, acceptUnsealed: boolean) {
    this.#seal = seal;
    this.#acceptUnsealed = acceptUnsealed;
  }

  /**
   * Encoded at once, so that later changes of `response` do not reach it.
   *
   * @throws {RecordTooLargeError}
   */
  encode(key: string, response: SavedResponse): Buffer | Promise<Buffer> {
    if (response.kept) refuseTooLarge(response.body);
    const plain = encodeSavedResponse(response);
    return this.#seal === undefined ? plain : this.#sealed(this.#seal, key, plain);
  }

  /** @throws {IdempotencyError} `record_corrupt`. */
  decode(key: string, bytes: Buffer): SavedResponse | Promise<SavedResponse> {
    if (bytes[0] === SEALED) return this.#opened(key, bytes.subarray(1));
    if (this.#seal !== undefined && !this.#acceptUnsealed) throw corrupt(NOT_SEALED);
    return decodeSavedResponse(bytes);
  }

  async #sealed(seal: ResponseSeal, key: string, plain: Buffer): Promise<Buffer> {
    return Buffer.concat([Buffer.of(SEALED), await seal.seal(plain, key)]);
  }

  async #opened(key: string, sealed: Buffer): Promise<SavedResponse> {
    if (this.#seal === undefined) throw corrupt(NO_SEAL);
    let plain: Uint8Array;
    try {
      plain = await this.#seal.open(sealed, key);
    } catch (cause) {
      throw corrupt(NOT_OPENED, cause);
    }
    return decodeSavedResponse(plain);
  }
}

/** The first byte of a sealed response; else that is the version of its encoding. */
const SEALED = 0x53;

const NOT_SEALED = 'it is not sealed, and the store has a seal. To read it set acceptUnsealed';
const NO_SEAL = 'it is sealed, and the store has no seal. Give the option seal';
const NOT_OPENED = 'its seal does not open: it was changed, moved, or its key is not there';

function corrupt(what: string, cause?: unknown): IdempotencyError {
  const message = `The saved response cannot be read: ${what}. The record was kept.`;
  return new IdempotencyError('record_corrupt', message, { cause });
}

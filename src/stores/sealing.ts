import { IdempotencyError } from '../core/errors.ts';
import { decodeSavedResponse, type SavedResponse } from '../core/saved-response.ts';
import type { ResponseSeal } from './seal.ts';

/** What a store does with its option `seal`, and when there is none: the same in each of them. */
export class Sealing {
  readonly #seal: ResponseSeal | undefined;
  readonly #acceptUnsealed: boolean;

  constructor(seal: ResponseSeal | undefined, acceptUnsealed: boolean) {
    this.#seal = seal;
    this.#acceptUnsealed = acceptUnsealed;
  }

  /** The sealed bytes of an encoded response; `undefined` where nothing is sealed. */
  sealed(key: string, encode: () => Uint8Array): Promise<Uint8Array> | undefined {
    const seal = this.#seal;
    return seal && Promise.resolve(seal.seal(encode(), key));
  }

  /** @throws {IdempotencyError} `record_corrupt`. */
  async opened(key: string, bytes: Uint8Array): Promise<SavedResponse> {
    if (this.#seal === undefined) throw corrupt(NO_SEAL);
    let opened: Uint8Array;
    try {
      opened = await this.#seal.open(bytes, key);
    } catch (cause) {
      throw corrupt(NOT_OPENED, cause);
    }
    return decodeSavedResponse(opened);
  }

  /** @throws {IdempotencyError} `record_corrupt` when what is not sealed may not be read. */
  checkUnsealed(): void {
    if (this.#seal !== undefined && !this.#acceptUnsealed) throw corrupt(NOT_SEALED);
  }
}

const NOT_SEALED = 'it is not sealed, and the store has a seal. To read it set acceptUnsealed';
const NO_SEAL = 'it is sealed, and the store has no seal. Give the option seal';
const NOT_OPENED = 'its seal does not open: it was changed, moved, or its key is not there';

function corrupt(what: string, cause?: unknown): IdempotencyError {
  const message = `The saved response cannot be read: ${what}. The record was kept.`;
  return new IdempotencyError('record_corrupt', message, { cause });
}

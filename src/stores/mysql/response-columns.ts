import { IdempotencyError, RecordTooLargeError } from '../../core/errors.ts';
import {
  decodeHead,
  decodeSavedResponse,
  encodeHead,
  encodeSavedResponse,
  type SavedResponse,
} from '../../core/saved-response.ts';
import type { ResponseSeal } from '../seal.ts';
import type { Row } from './driver.ts';
import { textOf } from './record-row.ts';

/** A saved response in its two columns: encoded, so that later changes do not reach it. */
export interface ResponseColumns {
  readonly head: string;
  readonly body: Uint8Array | null;
}

/** `body` alone is a word of SQL where sql_mode is ORACLE. */
export const RESPONSE_COLUMNS = 'response_head, response_body';

/** Turns responses into columns and back, sealed when there is a seal. */
export class ResponseCodec {
  readonly #seal: ResponseSeal | undefined;
  readonly #acceptUnsealed: boolean;

  constructor(seal: ResponseSeal | undefined, acceptUnsealed: boolean) {
    this.#seal = seal;
    this.#acceptUnsealed = acceptUnsealed;
  }

  /** @throws {RecordTooLargeError} */
  encode(key: string, response: SavedResponse): ResponseColumns | Promise<ResponseColumns> {
    if (response.kept && response.body.byteLength > MAX_BODY_BYTES) {
      throw new RecordTooLargeError(`MySqlStore keeps bodies of up to ${MAX_BODY_BYTES} bytes.`);
    }
    if (this.#seal !== undefined) return this.#sealed(this.#seal, key, response);
    return { head: encodeHead(response), body: response.kept ? Buffer.from(response.body) : null };
  }

  /** @throws {IdempotencyError} `record_corrupt`. */
  decode(key: string, row: Row): SavedResponse | Promise<SavedResponse> {
    const body = row['response_body'];
    const bytes = Buffer.isBuffer(body) ? body : EMPTY;
    const head = textOf(row, 'response_head') ?? '';
    if (head === SEALED) return this.#opened(key, bytes);
    if (this.#seal !== undefined && !this.#acceptUnsealed) throw corrupt(NOT_SEALED);
    return decodeHead(head, bytes);
  }

  async #sealed(seal: ResponseSeal, key: string, response: SavedResponse) {
    return { head: SEALED, body: await seal.seal(encodeSavedResponse(response), key) };
  }

  async #opened(key: string, bytes: Uint8Array): Promise<SavedResponse> {
    if (this.#seal === undefined) throw corrupt(NO_SEAL);
    let opened: Uint8Array;
    try {
      opened = await this.#seal.open(bytes, key);
    } catch (cause) {
      throw corrupt(NOT_OPENED, cause);
    }
    return decodeSavedResponse(opened);
  }
}

const EMPTY = new Uint8Array(0);
/** What stands in the column `head` of a sealed response. It is no JSON, so it is no head. */
const SEALED = 'sealed';
/** Whatever `max_allowed_packet` says, it has to arrive within a deadline. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

const NOT_SEALED = 'it is not sealed, and the store has a seal. To read it set acceptUnsealed';
const NO_SEAL = 'it is sealed, and the store has no seal. Give the option seal';
const NOT_OPENED = 'its seal does not open: it was changed, moved, or its key is not there';

function corrupt(what: string, cause?: unknown): IdempotencyError {
  const message = `The saved response cannot be read: ${what}. The record was kept.`;
  return new IdempotencyError('record_corrupt', message, { cause });
}

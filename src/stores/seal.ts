import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { IdempotencyError } from '../core/errors.ts';
import type { OptionRule } from '../core/option-check.ts';

/**
 * Encrypts saved responses before they are sent to the database, and authenticates them when they
 * come back. `recordKey` is bound to the sealed bytes: those of one record do not open in another.
 */
export interface ResponseSeal {
  seal(plain: Uint8Array, recordKey: string): Uint8Array | PromiseLike<Uint8Array>;
  /** Rejects when the bytes are not exactly what `seal` made for this record key. */
  open(sealed: Uint8Array, recordKey: string): Uint8Array | PromiseLike<Uint8Array>;
}

export const A_SEAL: OptionRule = {
  expected: 'an object with the functions seal and open, such as aesGcmSeal makes',
  isSecret: true,
  holds: (value) => {
    const { seal, open } = (value ?? {}) as { readonly seal?: unknown; readonly open?: unknown };
    return typeof seal === 'function' && typeof open === 'function';
  },
};

/** The options of {@link aesGcmSeal}. */
export interface AesGcmSealOptions {
  /** Keys of 32 bytes by their id, 1 to 64 letters, digits, `.`, `_` or `-`. */
  readonly keys: { readonly [keyId: string]: Uint8Array };
  /**
   * The id of the key that seals. The others only open: to rotate, add the new key on all replicas,
   * then make it the sealing one, and remove the old one when the result retention is over.
   */
  readonly sealWith: string;
}

/**
 * A seal by AES-256-GCM of `node:crypto`. A key may seal some four thousand million responses:
 * nonces are random, and after that many two could be equal.
 *
 * @example
 * ```ts
 * const seal = aesGcmSeal({ keys: { '2030-01': key }, sealWith: '2030-01' });
 * ```
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function aesGcmSeal({ keys, sealWith }: AesGcmSealOptions): ResponseSeal {
  const ring = new Map(Object.entries(keys).map(([id, key]) => [id, checkedKey(id, key)]));
  const sealKey = ring.get(sealWith);
  if (sealKey === undefined) throw invalid('"sealWith" must be the id of one of "keys"');
  const prefix = Buffer.concat([Buffer.of(FORMAT_VERSION, sealWith.length), Buffer.from(sealWith)]);
  return {
    seal(plain, recordKey) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, sealKey, nonce).setAAD(boundTo(prefix, recordKey));
      const sealed = [cipher.update(plain), cipher.final()];
      return Buffer.concat([prefix, nonce, ...sealed, cipher.getAuthTag()]);
    },
    open(bytes, recordKey) {
      const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const nonceStart = 2 + (sealed[1] ?? 0);
      const textStart = nonceStart + NONCE_BYTES;
      const textEnd = sealed.length - TAG_BYTES;
      if (sealed[0] !== FORMAT_VERSION || textEnd < textStart) throw corrupt('is not a sealed one');
      const key = ring.get(sealed.toString('latin1', 2, nonceStart));
      if (key === undefined) throw corrupt('was sealed with a key that is not there');
      const nonce = sealed.subarray(nonceStart, textStart);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(sealed.subarray(0, nonceStart), recordKey));
      decipher.setAuthTag(sealed.subarray(textEnd));
      return Buffer.concat([
        decipher.update(sealed.subarray(textStart, textEnd)),
        decipher.final(),
      ]);
    },
  };
}

const CIPHER = 'aes-256-gcm';
const FORMAT_VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The prefix carries its own length, so that no two pairs are bound to the same bytes. */
function boundTo(prefix: Uint8Array, recordKey: string): Buffer {
  return Buffer.concat([prefix, Buffer.from(recordKey)]);
}

function checkedKey(id: string, key: Uint8Array): Buffer {
  if (!KEY_ID.test(id)) throw invalid('the id of a key must be 1 to 64 of A-Z a-z 0-9 . _ -');
  if (!ArrayBuffer.isView(key) || key.byteLength !== KEY_BYTES) {
    throw invalid('a key must be 32 bytes, such as crypto.randomBytes(32)');
  }
  return Buffer.from(key);
}

function invalid(what: string): IdempotencyError {
  return new IdempotencyError('option_invalid', `aesGcmSeal: ${what}.`);
}

function corrupt(what: string): IdempotencyError {
  return new IdempotencyError('record_corrupt', `The saved response ${what}.`);
}

import {
  type Attempt,
  type Claim,
  FencedError,
  type IdempotencyStore,
  type SavedResponse,
} from '../../src/index.ts';

/** One record of the {@link JournalStore}: pending until it has a response. */
export interface JournalRecord {
  readonly fingerprint: string;
  readonly owner: string;
  response?: SavedResponse;
}

/** A store of a page of code that writes each call down. */
export class JournalStore implements IdempotencyStore {
  readonly records = new Map<string, JournalRecord>();
  readonly #write: (call: string) => void;

  constructor(write: (call: string) => void) {
    this.#write = write;
  }

  async claim(key: string, fingerprint: string, { owner }: Attempt): Promise<Claim> {
    this.#write('claim');
    const record = this.records.get(key);
    if (record === undefined) {
      this.records.set(key, { fingerprint, owner });
      return { kind: 'new', attempt: 1 };
    }
    if (record.fingerprint !== fingerprint) return { kind: 'conflict' };
    if (record.response === undefined) return { kind: 'pending' };
    return { kind: 'replay', response: structuredClone(record.response) };
  }

  async complete(key: string, response: SavedResponse, { owner }: Attempt): Promise<void> {
    this.#write('complete');
    const record = this.records.get(key);
    if (record?.owner !== owner) throw new FencedError();
    record.response ??= structuredClone(response);
  }

  async release(key: string, { owner }: Attempt): Promise<void> {
    this.#write('release');
    if (this.records.get(key)?.owner === owner) this.records.delete(key);
  }
}

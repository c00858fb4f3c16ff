import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Something that was shipped. Each of them costs money: it is the effect that is counted. */
export interface Shipment {
  readonly number: number;
  readonly request_id: string;
  readonly parcel_id: string;
}

/** What is to be shipped: once for a key; else once each time, unless its attempt is sealed. */
export interface ShipmentOrder extends Omit<Shipment, 'number'> {
  readonly key?: string;
  readonly reference?: string;
  readonly attempt?: number;
}

export type ShipAnswer =
  | { readonly kind: 'shipped'; readonly shipment: Shipment; readonly isNew: boolean }
  /** The key was used for another parcel. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'sealed' };

/**
 * All that the carrier has ever done, a line each in one file, on the disk before it is answered.
 * Each method is one step that no other comes between.
 */
export class ShipmentBook {
  readonly #file: number;
  readonly #shipments: Shipment[] = [];
  readonly #byKey = new Map<string, Shipment>();
  readonly #byReference = new Map<string, Shipment>();
  readonly #sealed = new Map<string, number>();

  private constructor(file: number) {
    this.#file = file;
  }

  /** Opens the book of one carrier; a line that a crash has cut off was never answered. */
  static open(path: string): ShipmentBook {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
    const file = openSync(path, 'a+');
    const text = readFileSync(path, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    ftruncateSync(file, Buffer.byteLength(whole));
    const book = new ShipmentBook(file);
    for (const line of whole.split('\n').slice(0, -1)) book.#note(JSON.parse(line));
    return book;
  }

  ship(order: ShipmentOrder): ShipAnswer {
    const { key, reference, attempt = 1, request_id, parcel_id } = order;
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (known !== undefined) {
      const isSame = known.request_id === request_id && known.parcel_id === parcel_id;
      return isSame ? { kind: 'shipped', shipment: known, isNew: false } : { kind: 'conflict' };
    }
    if (reference !== undefined && attempt <= this.#sealedOf(reference)) return { kind: 'sealed' };
    const number = FIRST_NUMBER + this.#shipments.length;
    const shipment = this.#write({ ...order, number }) as Shipment;
    return { kind: 'shipped', shipment, isNew: true };
  }

  /** From now on nothing is taken under `reference` from attempts up to this one. */
  seal(reference: string, attempt: number): Shipment | undefined {
    if (attempt > this.#sealedOf(reference)) this.#write({ seals: reference, attempt });
    return this.#byReference.get(reference);
  }

  find(number: number): Shipment | undefined {
    return this.#shipments[number - FIRST_NUMBER];
  }

  close(): void {
    closeSync(this.#file);
  }

  #sealedOf(reference: string): number {
    return this.#sealed.get(reference) ?? 0;
  }

  #write(entry: Entry): Shipment | undefined {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    fdatasyncSync(this.#file);
    return this.#note(entry);
  }

  #note(entry: Entry): Shipment | undefined {
    if ('seals' in entry) {
      this.#sealed.set(entry.seals, entry.attempt);
      return undefined;
    }
    const { number, request_id, parcel_id, key, reference } = entry;
    const shipment = { number, request_id, parcel_id };
    this.#shipments.push(shipment);
    if (key !== undefined) this.#byKey.set(key, shipment);
    if (reference !== undefined) this.#byReference.set(reference, shipment);
    return shipment;
  }
}

const FIRST_NUMBER = 901;

/** One line of the file. */
type Entry =
  | (ShipmentOrder & { readonly number: number })
  | { readonly seals: string; readonly attempt: number };

import { type IncomingMessage, request } from 'node:http';
import { neverStarted } from '../index.ts';
import type { Label } from './label.ts';
import { numberOf } from './label-number.ts';
import type { LabelOperation } from './label-operation.ts';

/** By what the carrier tells one shipment, or one attempt at it, from another. */
export type ShipmentName =
  | { readonly key: string }
  | { readonly reference: string; readonly attempt: number };

/** The carrier, a service of somebody else's that makes labels, as it is asked over HTTP. */
export class Carrier {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '');
  }

  /** Has a label made. A rejection says nothing of whether it was, unless nothing was sent. */
  async ship(operation: LabelOperation, name: ShipmentName): Promise<Label> {
    try {
      const { key, ...reference } = { key: undefined, ...name };
      const headers = key === undefined ? {} : { 'Idempotency-Key': key };
      const order = { ...operation, ...reference };
      const answer = await this.#ask('POST', '/shipments', order, headers);
      if (answer.status === 201) return labelOf(answer.body);
      throw unexpected(answer);
    } catch (error) {
      // A connection of its own that was refused: the carrier has not heard a word of it.
      const { code } = error as { readonly code?: unknown };
      throw code === 'ECONNREFUSED' ? neverStarted(error) : error;
    }
  }

  /** Has nothing taken any more from attempts up to this one, and answers what was before. */
  async seal(reference: string, attempt: number): Promise<Label | undefined> {
    const answer = await this.#ask('POST', '/seals', { reference, attempt });
    if (answer.status === 200) return labelOf(answer.body);
    if (answer.status === 204) return undefined;
    throw unexpected(answer);
  }

  async find(label_id: string): Promise<Label | undefined> {
    const number = numberOf(label_id);
    if (number === undefined) return undefined;
    const answer = await this.#ask('GET', `/shipments/${number}`);
    if (answer.status === 200) return labelOf(answer.body);
    if (answer.status === 404) return undefined;
    throw unexpected(answer);
  }

  #ask(method: string, path: string, question?: object, more = {}): Promise<CarrierAnswer> {
    const signal = AbortSignal.timeout(CARRIER_TIMEOUT_MS);
    const headers = { 'Content-Type': 'application/json', ...more };
    return new Promise((resolve, reject) => {
      const asking = request(`${this.#url}${path}`, { method, headers, agent: false, signal });
      asking.once('error', reject).once('response', (res) => collect(res).then(resolve, reject));
      asking.end(question && JSON.stringify(question));
    });
  }
}

const CARRIER_TIMEOUT_MS = 10_000;

interface CarrierAnswer {
  readonly status: number | undefined;
  readonly body: string;
}

async function collect(res: IncomingMessage): Promise<CarrierAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  return { status: res.statusCode, body: Buffer.concat(chunks).toString() };
}

function labelOf(body: string): Label {
  const { number, request_id, parcel_id } = JSON.parse(body);
  return { label_id: `label-${number}`, request_id, parcel_id };
}

function unexpected({ status }: CarrierAnswer): Error {
  return new Error(`Expected the carrier to take what it was asked, got ${status} from it.`);
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { CarrierSettings } from './carrier-settings.ts';
import type { ShipAnswer, Shipment, ShipmentBook, ShipmentOrder } from './shipment-book.ts';

/** The carrier over HTTP, as slow and as forgetful of answers as it is told to be. */
export function carrierServer(
  book: ShipmentBook,
  { delayMs, losesEvery }: Pick<CarrierSettings, 'delayMs' | 'losesEvery'>,
): Server {
  let madeCount = 0;

  /** Whoever has asked may be gone when it is done: the order lies there all the same. */
  async function ship(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [key] = req.headersDistinct['idempotency-key'] ?? [];
    const order = (await bodyOf(req)) as ShipmentOrder;
    await delay(delayMs);
    const answer = book.ship(key === undefined ? order : { ...order, key });
    if (isNew(answer)) {
      madeCount += 1;
      if (losesEvery > 0 && madeCount % losesEvery === 0) {
        req.socket.destroy();
        return;
      }
    }
    if (answer.kind === 'shipped') send(res, 201, answer.shipment);
    else send(res, 409, { error: answer.kind });
  }

  async function seal(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { reference, attempt } = (await bodyOf(req)) as Required<ShipmentOrder>;
    const taken = book.seal(reference, attempt);
    send(res, taken === undefined ? 204 : 200, taken);
  }

  return createServer((req, res) => {
    answer(req, res).catch(() => send(res, 400, { error: 'invalid_request' }));
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const number = SHIPMENT.exec(`${req.method} ${req.url}`)?.[1];
    if (number !== undefined) return show(res, book.find(Number(number)));
    if (req.method === 'POST' && req.url === '/shipments') return ship(req, res);
    if (req.method === 'POST' && req.url === '/seals') return seal(req, res);
    send(res, 404, { error: 'not_found' });
  }
}

const SHIPMENT = /^GET \/shipments\/([0-9]{1,15})$/;

function isNew(answer: ShipAnswer): boolean {
  return answer.kind === 'shipped' && answer.isNew;
}

function show(res: ServerResponse, shipment: Shipment | undefined): void {
  if (shipment === undefined) send(res, 404, { error: 'not_found' });
  else send(res, 200, shipment);
}

function send(res: ServerResponse, status: number, body?: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body));
}

async function bodyOf(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

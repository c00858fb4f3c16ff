import type { AddressInfo } from 'node:net';
import { carrierServer } from './carrier-server.ts';
import { readCarrierSettings } from './carrier-settings.ts';
import { ShipmentBook } from './shipment-book.ts';

/**
 * Runs a pretended carrier until it is told to stop: `npm run carrier`. It shares nothing with the
 * labels service but what goes over HTTP.
 */
function main(): void {
  const settings = readCarrierSettings(process.env);
  const server = carrierServer(ShipmentBook.open(settings.path), settings);
  server.once('error', fail).listen(settings.port, HOST, () => {
    const { port } = server.address() as AddressInfo;
    console.log(`carrier listening on http://${HOST}:${port} (pid ${process.pid})`);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
}

const HOST = '127.0.0.1';

function fail(error: unknown): void {
  const message = String((error as { readonly message?: unknown })?.message ?? error);
  console.error(`carrier: ${message.replace(/\s+/g, ' ')}`);
  process.exit(1);
}

try {
  main();
} catch (error) {
  fail(error);
}

import { startLabelsService } from './service.ts';
import { readServiceSettings } from './service-settings.ts';

/** Runs the labels service until it is told to stop: `npm start`. */
async function main(): Promise<void> {
  const service = await startLabelsService(readServiceSettings(process.env));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // Once: a second signal of the same kind ends the process at once.
    process.once(signal, () => service.stop().then(() => process.exit(0), fail));
  }
  console.log(welcome(service.address));
}

function welcome(address: string): string {
  const order = (parcel: string) =>
    `curl -i ${address}/labels -H 'Content-Type: application/json' ` +
    `-H 'Idempotency-Key: label-req-7' -d '{"request_id":"label-req-7","parcel_id":"${parcel}"}'`;
  return [
    `labels listening on ${address} (pid ${process.pid})`,
    order('parcel-42'),
    order('parcel-43'),
    `curl -i ${address}/labels/label-901`,
  ].join('\n');
}

function fail(error: unknown): void {
  const message = String((error as { readonly message?: unknown })?.message ?? error);
  console.error(`labels: ${message.replace(/\s+/g, ' ')}`);
  process.exit(1);
}

main().catch(fail);

import { readFileSync } from 'node:fs';
import { openSqlite } from '../../src/labels/sqlite-handle.ts';
import type { ServiceProcesses } from './service-process.ts';

/** Where the labels of a mode are. */
export type Place = 'in the table' | 'at the carrier';

/** How many labels there are for a request id. */
export async function labelsMade(
  services: ServiceProcesses,
  place: Place,
  request_id: string,
): Promise<number> {
  if (place === 'at the carrier') return shipmentsOf(services, request_id).length;
  const handle = await openSqlite(services.databasePath);
  try {
    const select = 'SELECT count(*) AS labels FROM labels WHERE request_id = ?';
    return (handle.prepare(select).get(request_id) as { labels: number }).labels;
  } finally {
    handle.close();
  }
}

export interface ShipmentLine {
  readonly number: number;
  readonly request_id: string;
  readonly attempt?: number;
}

/** What the carrier has written down, but for seals. */
export function shipmentsOf(services: ServiceProcesses, request_id: string): ShipmentLine[] {
  const lines = readFileSync(services.carrierPath, 'utf8').trimEnd().split('\n');
  return lines
    .map((line) => JSON.parse(line) as ShipmentLine)
    .filter((line) => line.request_id === request_id);
}

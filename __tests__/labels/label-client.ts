import { request } from 'node:http';
import type { LabelOperation } from '../../src/labels/index.ts';

/** One answer: status, header lines without those of the connection, and body, as one text. */
export interface LabelAnswer {
  readonly status: number;
  readonly text: string;
}

const TRANSPORT = new Set(['date', 'connection', 'keep-alive']);

/** Asks for a label once. Rejects when no whole answer came. */
export function askForLabel(port: number, operation: LabelOperation): Promise<LabelAnswer> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': operation.request_id };
  return new Promise((resolve, reject) => {
    const req = request(
      { host: '127.0.0.1', port, path: '/labels', method: 'POST', headers, agent: false },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
        res.on('end', () => {
          const lines: string[] = [];
          for (let at = 0; at < res.rawHeaders.length; at += 2) {
            const [name = '', value] = res.rawHeaders.slice(at, at + 2);
            if (!TRANSPORT.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
          }
          const status = res.statusCode ?? 0;
          const text = [status, ...lines, '', Buffer.concat(chunks).toString('latin1')].join('\n');
          resolve({ status, text });
        });
      },
    );
    req.on('error', reject).end(JSON.stringify(operation));
  });
}

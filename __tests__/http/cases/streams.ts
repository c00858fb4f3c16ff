import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { finished, pipeline, Readable, Writable } from 'node:stream';
import { pipeline as piped } from 'node:stream/promises';
import onFinished from 'on-finished';
import type { Case } from '../bare-and-held.ts';
import { codeOf, delay } from './observed.ts';

const ROOMY = { maxResponseBytes: 8 * 1024 * 1024 };
const PART = Buffer.alloc(64 * 1024, 'part of a large body. ');

/** What is streamed into the response. */
export const streams: Case[] = [
  {
    name: 'pipe of 600 KB',
    handler: ({ res, files }) => createReadStream(join(files, 'letters.txt')).pipe(res),
  },
  {
    name: 'pipe of 3 MB',
    ends: 'not kept',
    handler: ({ res, files }) => createReadStream(join(files, 'large.bin')).pipe(res),
  },
  {
    name: 'pipe of 3 MB, with room for it',
    options: ROOMY,
    handler: ({ res, files }) => createReadStream(join(files, 'large.bin')).pipe(res),
  },
  {
    name: 'pipe with a tail after it',
    handler: ({ res, files }) => {
      const source = createReadStream(join(files, 'small.txt'));
      source.pipe(res, { end: false });
      source.on('end', () => res.end('tail'));
    },
  },
  {
    name: 'pipe of a slow source',
    handler: ({ res }) => Readable.from(slowly(['one ', 'two ', 'three'])).pipe(res),
  },
  {
    name: 'pipe and unpipe events',
    handler: ({ res, log }) => {
      res.on('pipe', () => log('pipe')).on('unpipe', () => log('unpipe'));
      const source = Readable.from(['a', 'b']);
      source.pipe(res, { end: false });
      source.on('end', () => {
        source.unpipe(res);
        res.end();
      });
    },
  },
  {
    name: 'pipeline of a file',
    handler: async ({ res, files, log }) => {
      await piped(createReadStream(join(files, 'letters.txt')), res);
      log('done', res.writableFinished);
    },
  },
  {
    name: 'pipeline of 3 MB',
    ends: 'not kept',
    handler: async ({ res, files, log }) => {
      await piped(createReadStream(join(files, 'large.bin')), res);
      log('done', res.writableFinished);
    },
  },
  {
    name: 'pipeline whose source fails',
    ends: 'pending',
    handler: ({ res, log }) =>
      pipeline(Readable.from(failing()), res, (error) => log(codeOf(error), res.destroyed)),
    // Bare, the client has a part of it; held, nothing has left.
    alike: (run) => ({ ...run, answers: [], events: run.events.map((event) => event.slice(0, 5)) }),
  },
  {
    name: 'a web stream',
    handler: ({ res, log }) => {
      const body = new Response('from a web stream').body as ReadableStream;
      return body.pipeTo(Writable.toWeb(res)).then(() => log('done', res.writableFinished));
    },
  },
  {
    name: 'a loop that waits for drain, 3 MB',
    ends: 'not kept',
    handler: async ({ res, log }) => {
      await writeParts(res, 48);
      res.end(() => log('ended'));
    },
  },
  {
    name: 'a loop that waits for drain, 3 MB, with room for it',
    options: ROOMY,
    handler: async ({ res, log }) => {
      await writeParts(res, 48);
      res.end(() => log('ended'));
    },
  },
  {
    name: 'a loop that waits for nothing, 3 MB',
    ends: 'not kept',
    handler: ({ res, log }) => {
      let written = 0;
      for (let part = 0; part < 48; part += 1) {
        res.write(PART, () => {
          written += 1;
          if (written === 48) log('all written');
        });
      }
      res.end();
    },
  },
  {
    name: '2 MB in end',
    ends: 'not kept',
    handler: ({ res, log }) => res.end(Buffer.alloc(2 * 1024 * 1024, 'x'), () => log('ended')),
  },
  {
    name: '2 MB as json',
    ends: 'not kept',
    handler: ({ res }) => res.json({ text: 'é'.repeat(1024 * 1024) }),
  },
  {
    name: 'exactly as much as is kept',
    options: { maxResponseBytes: 1000 },
    handler: ({ res }) => res.end(Buffer.alloc(1000, 'x')),
  },
  {
    name: 'one byte more than is kept',
    options: { maxResponseBytes: 1000 },
    ends: 'not kept',
    handler: ({ res }) => res.end(Buffer.alloc(1001, 'x')),
  },
  {
    name: 'one byte more than is kept, in the last of many',
    options: { maxResponseBytes: 1000 },
    ends: 'not kept',
    handler: ({ res }) => {
      res.write(Buffer.alloc(900, 'x'));
      res.write(Buffer.alloc(100, 'y'));
      res.end('!');
    },
  },
  {
    name: 'a failure of the server that is too large to keep',
    options: { maxResponseBytes: 1000 },
    ends: 'pending',
    handler: ({ res }) => res.status(500).end(Buffer.alloc(5000, 'x')),
  },
  {
    name: 'trailers after a body that is too large to keep',
    options: { maxResponseBytes: 1000 },
    ends: 'not kept',
    handler: ({ res }) => {
      res.writeHead(200, { Trailer: 'X-Sum' });
      res.write(Buffer.alloc(2000, 'x'));
      res.addTrailers({ 'X-Sum': '42' });
      res.end();
    },
  },
  {
    name: 'stream.finished',
    handler: ({ res, log }) => {
      finished(res, (error) => log('finished', codeOf(error), res.writableFinished));
      res.end('ok');
    },
  },
  {
    name: 'stream.finished, asked after end',
    handler: ({ res, log }) => {
      res.end('ok');
      finished(res, (error) => log('finished', codeOf(error), res.writableFinished));
    },
  },
  {
    name: 'on-finished',
    handler: ({ res, log }) => {
      onFinished(res, (error) => log('finished', codeOf(error), res.writableFinished));
      res.end('ok');
    },
  },
  {
    name: 'on-finished, asked after end',
    handler: ({ res, log }) => {
      res.end('ok');
      onFinished(res, (error) => log('finished', codeOf(error)));
    },
  },
];

async function* slowly(parts: string[]): AsyncGenerator<string> {
  for (const part of parts) {
    await delay(3);
    yield part;
  }
}

async function* failing(): AsyncGenerator<string> {
  yield 'a part';
  await delay(3);
  throw new Error('source failed');
}

async function writeParts(res: Writable, count: number): Promise<void> {
  for (let part = 0; part < count; part += 1) {
    if (!res.write(PART)) await new Promise((resolve) => res.once('drain', resolve));
  }
}

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import type { Case, Run } from '../bare-and-held.ts';

type Layer = (options?: object) => RequestHandler;

const compression = require('compression') as Layer;
const session = require('express-session') as Layer;

const GZIP = { headers: ['Accept-Encoding: gzip'] };
const ROOMY = { maxResponseBytes: 8 * 1024 * 1024 };
const TEXT = 'a text that is worth to be compressed. '.repeat(100);
const PART = Buffer.alloc(64 * 1024, 'part of a large body. ');

const compressed = (): RequestHandler[] => [compression()];

export const sessioned = (): RequestHandler[] => [
  session({ secret: 's', genid: () => 'sid', resave: true, saveUninitialized: true }),
];
/** What was compressed in other pieces has other bytes; its text is the same. */
function unzipped(run: Run): Run {
  const answers = run.answers.map((answer) =>
    answer.lines.includes('Content-Encoding: gzip') && answer.isWhole
      ? { ...answer, body: gunzipSync(answer.body) }
      : answer,
  );
  return { ...run, answers };
}

const drainLoop: Case['handler'] = async ({ res }) => {
  let go: () => void = () => undefined;
  res.on('drain', () => go());
  for (let part = 0; part < 48; part += 1) {
    const isFull = !res.write(PART);
    if (isFull) await new Promise<void>((resolve) => (go = resolve));
  }
  res.end();
};

/** A layer that replaces `write`, `end` and `on`, and sends what it is given later. */
export const compressions: Case[] = [
  {
    name: 'compression outside, json',
    asked: GZIP,
    outer: compressed,
    handler: ({ res }) => res.json({ text: TEXT }),
  },
  {
    name: 'compression outside, a body below its threshold',
    asked: GZIP,
    outer: compressed,
    handler: ({ res }) => res.json({ text: 'short' }),
  },
  {
    name: 'compression outside, write and end',
    asked: GZIP,
    outer: compressed,
    alike: unzipped,
    handler: ({ res }) => {
      res.type('text');
      res.write(TEXT);
      res.end(TEXT);
    },
  },
  {
    name: 'compression outside, pipe of 3 MB',
    asked: GZIP,
    outer: compressed,
    ends: 'not kept',
    alike: unzipped,
    handler: ({ res, files }) => {
      createReadStream(join(files, 'large.bin')).pipe(res.type('text'));
    },
  },
  {
    name: 'compression outside, pipe of 3 MB, with room for it',
    asked: GZIP,
    outer: compressed,
    options: ROOMY,
    alike: unzipped,
    handler: ({ res, files }) => {
      createReadStream(join(files, 'large.bin')).pipe(res.type('text'));
    },
  },
  {
    name: 'compression outside, a loop that waits for drain, 3 MB',
    asked: GZIP,
    outer: compressed,
    ends: 'not kept',
    alike: unzipped,
    handler: (stage) => drainLoop({ ...stage, res: stage.res.type('text') }),
  },
  {
    name: 'compression outside, not asked for, a loop that waits for drain, 3 MB',
    outer: compressed,
    ends: 'not kept',
    handler: (stage) => drainLoop({ ...stage, res: stage.res.type('text') }),
  },
  {
    name: 'compression outside, 204',
    asked: GZIP,
    outer: compressed,
    handler: ({ res }) => res.status(204).end(),
  },
  {
    name: 'compression outside, HEAD',
    asked: { ...GZIP, method: 'HEAD' },
    outer: compressed,
    handler: ({ res }) => res.send(TEXT),
  },
  {
    name: 'compression inside, json',
    asked: GZIP,
    inner: compressed,
    handler: ({ res }) => res.json({ text: TEXT }),
  },
  {
    name: 'compression inside, pipe of 600 KB',
    asked: GZIP,
    inner: compressed,
    handler: ({ res, files }) => {
      createReadStream(join(files, 'letters.txt')).pipe(res.type('text'));
    },
  },
  {
    name: 'compression inside, a loop that waits for drain, 3 MB',
    asked: GZIP,
    inner: compressed,
    options: { maxResponseBytes: 1000 },
    ends: 'not kept',
    handler: (stage) => drainLoop({ ...stage, res: stage.res.type('text') }),
  },
  {
    name: 'compression and session outside',
    asked: GZIP,
    outer: () => [...compressed(), ...sessioned()],
    alike: unzipped,
    handler: ({ res }) => res.json({ text: TEXT }),
  },
  {
    name: 'session and compression inside',
    asked: GZIP,
    inner: () => [...sessioned(), ...compressed()],
    handler: ({ res }) => res.json({ text: TEXT }),
  },
];

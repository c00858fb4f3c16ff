import { join } from 'node:path';
import onHeaders from 'on-headers';
import type { Case, Run } from '../bare-and-held.ts';
import { sessioned } from './compression.ts';

/** Node writes a head as UTF-8 when a string is the first part of the body, and else as Latin-1. */
const asLatin1 = (run: Run): Run => ({
  ...run,
  answers: run.answers.map((answer) => ({
    ...answer,
    lines: answer.lines.map((line) => line.replace('Ã©', 'é')),
  })),
});

/** Values beyond ASCII. Node re-encodes a Content-Disposition when it knows the length. */
export const latin1: Case[] = [
  {
    name: 'a value of Latin-1',
    handler: ({ res }) => {
      res.setHeader('X-Name', 'café');
      res.end(Buffer.from('ok'));
    },
  },
  {
    name: 'a value of Latin-1 before a string',
    alike: asLatin1,
    handler: ({ res }) => {
      res.setHeader('X-Name', 'café');
      res.json({ ok: true });
    },
  },
  {
    name: 'a Content-Disposition of Latin-1, with a length',
    handler: ({ res }) => {
      res.setHeader('Content-Length', 2);
      res.setHeader('Content-Disposition', 'attachment; filename="é.txt"');
      res.end(Buffer.from('ok'));
    },
  },
  {
    name: 'a Content-Disposition of Latin-1, as a list',
    handler: ({ res }) => {
      res.setHeader('Content-Disposition', ['attachment; filename="é.txt"']);
      res.end(Buffer.from('ok'));
    },
  },
  {
    name: 'two Content-Dispositions of Latin-1, before a stream',
    handler: ({ res }) => {
      res.setHeader('Content-Disposition', ['inline; filename="é"', 'inline; filename="b"']);
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'a Content-Disposition of Latin-1, before a stream',
    handler: ({ res }) => {
      res.setHeader('Content-Disposition', 'attachment; filename="é.txt"');
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'a Content-Disposition of Latin-1, before a stream, below an outer layer',
    outer: () => [
      (_req, res, next) => {
        onHeaders(res, () => res.setHeader('X-Late', '1'));
        next();
      },
    ],
    handler: ({ res }) => {
      res.setHeader('Content-Disposition', 'attachment; filename="é.txt"');
      res.write('a');
      res.end('b');
    },
  },
  {
    name: 'download of a name beyond ASCII, below a session',
    outer: sessioned,
    handler: ({ res, files }) => res.download(join(files, 'small.txt'), 'rapport é.txt'),
  },
];

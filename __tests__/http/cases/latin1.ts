import type { Case } from '../bare-and-held.ts';

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
];

import { join } from 'node:path';
import type { Case } from '../bare-and-held.ts';
import { codeOf } from './observed.ts';

const ROOMY = { maxResponseBytes: 8 * 1024 * 1024 };

/** What Express sends of files. */
export const sentFiles: Case[] = [
  { name: 'sendFile', handler: ({ res, files }) => res.sendFile('small.txt', { root: files }) },
  {
    name: 'sendFile with a callback',
    handler: ({ res, files, log }) =>
      res.sendFile('small.txt', { root: files }, (error) => {
        log('sent', codeOf(error), res.headersSent);
      }),
  },
  {
    name: 'sendFile of a range',
    asked: { headers: ['Range: bytes=10-19'] },
    handler: ({ res, files }) => res.sendFile('small.txt', { root: files }),
  },
  {
    name: 'sendFile of a range that is not there',
    asked: { headers: ['Range: bytes=9000-'] },
    handler: ({ res, files }) => res.sendFile('small.txt', { root: files }),
  },
  {
    name: 'sendFile to a client that has it',
    asked: { method: 'GET', headers: ['If-None-Match: *'] },
    handler: ({ res, files }) => res.sendFile('small.txt', { root: files }),
  },
  {
    name: 'sendFile for HEAD',
    asked: { method: 'HEAD' },
    handler: ({ res, files }) => res.sendFile('small.txt', { root: files }),
  },
  {
    name: 'sendFile of a missing file, then a 404 of the handler',
    handler: ({ res, files, log }) =>
      res.sendFile('none.txt', { root: files }, (error) => {
        log(codeOf(error), res.headersSent);
        res.status(404).json({ error: 'no such label' });
      }),
  },
  {
    name: 'sendFile of a missing file, without a callback',
    handler: ({ res, files }) => res.sendFile('none.txt', { root: files }),
    // The page of Express has the path of the file, and the stack.
    alike: (run) => ({
      ...run,
      answers: run.answers.map((answer) => ({
        ...answer,
        body: answer.body.subarray(0, 15),
        lines: answer.lines.filter((line) => !line.startsWith('Content-Length')),
      })),
    }),
  },
  {
    name: 'sendFile of 3 MB',
    ends: 'not kept',
    handler: ({ res, files }) => res.sendFile('large.bin', { root: files }),
  },
  {
    name: 'sendFile of 3 MB, with room for it',
    options: ROOMY,
    handler: ({ res, files }) => res.sendFile('large.bin', { root: files }),
  },
  {
    name: 'sendFile with headers of its own',
    handler: ({ res, files }) =>
      res.sendFile('small.txt', { root: files, headers: { 'X-Own': 'yes' }, maxAge: '1d' }),
  },
  {
    name: 'download',
    handler: ({ res, files, log }) =>
      res.download(join(files, 'small.txt'), 'rapport é.txt', (error) => {
        log('sent', codeOf(error));
      }),
  },
];

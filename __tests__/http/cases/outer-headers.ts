import type { RequestHandler } from 'express';
import type { Case } from '../bare-and-held.ts';
import { inAnyOrder } from './observed.ts';

const sets =
  (...lines: [name: string, value: string | string[]][]) =>
  (): RequestHandler[] => [
    (_req, res, next) => {
      for (const [name, value] of structuredClone(lines)) res.setHeader(name, value);
      next();
    },
  ];

/** What becomes of headers that outer middleware has set. A replay removes and appends. */
export const outerHeaders: Case[] = [
  {
    name: 'removeHeader of outer ones',
    outer: sets(['X-Outer', '1'], ['X-Other', '2']),
    handler: ({ res }) => {
      res.removeHeader('x-outer');
      res.removeHeader('X-Powered-By');
      res.send('ok');
    },
  },
  {
    name: 'outer headers replaced, set again, and left alone',
    outer: sets(['X-Replaced', 'outer'], ['X-Same', 'same'], ['X-Alone', 'alone']),
    handler: ({ res }) => {
      res.setHeader('X-Replaced', 'mine').setHeader('X-Same', 'same').setHeader('X-Mine', '1');
      res.end('ok');
    },
    // A replay removes and appends, so what was replaced comes last.
    alike: inAnyOrder,
  },
  {
    name: 'an outer list cut short, and another begun anew',
    outer: sets(['Link', ['</o1>', '</o2>']], ['X-List', ['1', '2']]),
    handler: ({ res }) => {
      res.setHeader('Link', '</o1>');
      res.setHeader('X-List', ['2', '1', '3']);
      res.end('ok');
    },
    alike: inAnyOrder,
  },
  {
    name: 'an outer header removed and set again',
    outer: sets(['X-Outer', '1'], ['X-Other', '2']),
    handler: ({ res }) => {
      res.removeHeader('X-Outer');
      res.setHeader('X-Outer', '1');
      res.end('ok');
    },
  },
  {
    name: 'an outer list added to',
    outer: sets(['Link', ['</o1>', '</o2>']], ['X-After', '1']),
    handler: ({ res }) => {
      res.appendHeader('Link', '</mine>');
      res.end('ok');
    },
  },
  {
    name: 'an outer list added to, and another header replaced',
    outer: sets(['Set-Cookie', 'o=1'], ['X-Replaced', '1']),
    handler: ({ res }) => {
      res.cookie('mine', '1');
      res.setHeader('X-Replaced', 'mine');
      res.end('ok');
    },
    alike: inAnyOrder,
  },
  {
    name: 'Vary, begun by an outer layer',
    outer: sets(['Vary', 'Origin']),
    handler: ({ res }) => res.vary('Accept').send('ok'),
    alike: inAnyOrder,
  },
];

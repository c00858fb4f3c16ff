import { readFile } from 'node:fs/promises';
import type { Case } from '../bare-and-held.ts';

/** Whole bodies, by Express and by Node. */
export const bodies: Case[] = [
  {
    name: '201, Location, two ETag lines',
    handler: ({ res }) => {
      res.status(201).location('/labels/label-901').append('ETag', '"label-901-v1"');
      res.append('ETag', '"backup"').type('application/json').end('{"label_id":"label-901"}');
    },
  },
  { name: 'json', handler: ({ res }) => res.json({ a: 1, é: 'ü' }) },
  { name: 'json of null', handler: ({ res }) => res.json(null) },
  { name: 'json with a status of 422', handler: ({ res }) => res.status(422).json({ no: 1 }) },
  { name: 'send of a string', handler: ({ res }) => res.send('<p>héllo</p>') },
  { name: 'send of a Buffer', handler: ({ res }) => res.send(Buffer.from([0, 255, 1, 254])) },
  { name: 'send of an object', handler: ({ res }) => res.send({ a: [1, 2] }) },
  { name: 'send of nothing', handler: ({ res }) => res.send() },
  { name: 'send of an empty string', handler: ({ res }) => res.send('') },
  { name: 'sendStatus', handler: ({ res }) => res.sendStatus(202) },
  { name: 'type and send', handler: ({ res }) => res.type('text/csv').send('a,b') },
  { name: 'redirect', handler: ({ res }) => res.redirect(303, '/elsewhere?a=ü') },
  {
    name: 'jsonp',
    asked: { path: '/?callback=cb' },
    handler: ({ res }) => res.jsonp({ a: '\u2028' }),
  },
  {
    name: 'render',
    prepare: (app) => {
      app.engine('view', async (path, options, done) => {
        const text = await readFile(path, 'utf8');
        done(null, text.replace('NAME', (options as { name: string }).name));
      });
      app.set('view engine', 'view');
    },
    handler: ({ res }) => res.render('page', { name: 'Zoë' }),
  },
  {
    name: 'format',
    asked: { headers: ['Accept: text/plain'] },
    handler: ({ res }) =>
      res.format({ html: () => res.send('<p>'), text: () => res.send('plain') }),
  },
  {
    name: 'two cookies',
    handler: ({ res }) => res.cookie('a', '1').cookie('b', 'x y', { httpOnly: true }).send('ok'),
  },
  {
    name: 'links, vary, attachment',
    handler: ({ res }) => {
      res.links({ next: '/2', last: '/9' }).vary('Accept').attachment('naïve café.txt');
      res.send('ok');
    },
  },
  { name: 'end of nothing', handler: ({ res }) => res.end() },
  { name: 'end of a string', handler: ({ res }) => res.end('plain') },
  { name: 'end of a string beyond ASCII', handler: ({ res }) => res.end('žluťoučký') },
  { name: 'end of a Buffer', handler: ({ res }) => res.end(Buffer.from([1, 2, 3, 200])) },
  { name: 'end of an empty Buffer', handler: ({ res }) => res.end(Buffer.alloc(0)) },
  { name: 'end of an empty string', handler: ({ res }) => res.end('') },
  { name: 'end of a Uint8Array', handler: ({ res }) => res.end(new Uint8Array([9, 8, 7])) },
  { name: 'end of 5,000 bytes', handler: ({ res }) => res.end(Buffer.alloc(5000, 'é')) },
  { name: 'end of a latin1 string', handler: ({ res }) => res.end('é', 'latin1') },
  { name: 'end of a hex string', handler: ({ res }) => res.end('c3a9', 'hex') },
  { name: 'end of a base64 string', handler: ({ res }) => res.end('AAEC/w==', 'base64') },
  { name: 'end of a UTF-16 string', handler: ({ res }) => res.end('ab', 'utf16le') },
  {
    name: 'a Buffer changed after end',
    handler: ({ res }) => {
      const bytes = Buffer.from('as it was');
      res.end(bytes);
      setImmediate(() => bytes.fill('x'));
    },
    // Bare, the bytes are with the kernel by then.
  },
  {
    name: 'an object changed after json',
    handler: ({ res }) => {
      const body = { state: 'as it was' };
      res.json(body);
      body.state = 'changed';
    },
  },
  {
    name: 'Content-Type without charset',
    handler: ({ res }) => {
      res.setHeader('Content-Type', 'text/html');
      res.end('<p>');
    },
  },
  {
    name: 'an answer in a later tick',
    handler: ({ res }) => {
      setTimeout(() => res.status(201).json({ late: true }), 5);
    },
  },
  {
    name: 'an answer after other work',
    handler: async ({ res }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      res.status(201).json({ late: true });
    },
  },
];

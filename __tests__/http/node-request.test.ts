import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { prepareForProperties } from '../../src/express/node-request.ts';

function setup() {
  const req = new IncomingMessage(new Socket());
  // As a layer before the middleware leaves it: with a property that Node does not know.
  Object.assign(req, { body: { a: 1 } });
  const fields = () =>
    new Map(Reflect.ownKeys(req).map((name) => [name, Reflect.get(req, name) as unknown]));
  return { req, fields };
}

test('a request in dictionary mode, as before Node 24, has the same fields and values', () => {
  const { req, fields } = setup();
  const before = fields();
  expect(before.get('_dumped')).toBe(false);
  prepareForProperties(req, 22);
  expect(fields()).toEqual(before);
  expect(Object.keys(req).at(-1)).toBe('_dumped');
});

test('a request is left as it is from Node 24 on', () => {
  const { req } = setup();
  const before = Reflect.ownKeys(req);
  prepareForProperties(req, 24);
  expect(Reflect.ownKeys(req)).toEqual(before);
});

import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShipmentBook } from '../../src/labels/carrier/shipment-book.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanUp of cleanups.splice(0).reverse()) cleanUp();
});

function setup() {
  const directory = mkdtempSync(join(tmpdir(), 'carrier-'));
  cleanups.push(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'data', 'carrier.jsonl');
  const open = (): ShipmentBook => {
    const book = ShipmentBook.open(path);
    cleanups.push(() => book.close());
    return book;
  };
  return { path, open, book: open() };
}

const ORDER = { request_id: 'label-req-7', parcel_id: 'parcel-42' };
const FIRST = { number: 901, ...ORDER };

test('an order without a key is shipped each time it comes', () => {
  const { book } = setup();
  expect(book.ship(ORDER)).toEqual({ kind: 'shipped', shipment: FIRST, isNew: true });
  expect(book.ship(ORDER)).toMatchObject({ shipment: { number: 902 }, isNew: true });
  expect(book.find(902)).toEqual({ ...FIRST, number: 902 });
  expect(book.find(903)).toBeUndefined();
});

test('an order with a key is shipped once', () => {
  const { book, path } = setup();
  book.ship({ ...ORDER, key: 'a' });
  const again = book.ship({ ...ORDER, key: 'a' });
  expect(again).toEqual({ kind: 'shipped', shipment: FIRST, isNew: false });
  expect(book.ship({ ...ORDER, key: 'a', parcel_id: 'other' })).toEqual({ kind: 'conflict' });
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(2);
});

test('nothing is taken from an attempt up to the one that was sealed', () => {
  const { book } = setup();
  expect(book.seal('a', 2)).toBeUndefined();
  expect(book.ship({ ...ORDER, reference: 'a', attempt: 1 })).toEqual({ kind: 'sealed' });
  expect(book.ship({ ...ORDER, reference: 'a', attempt: 2 })).toEqual({ kind: 'sealed' });
  expect(book.ship({ ...ORDER, reference: 'b', attempt: 1 }).kind).toBe('shipped');
  expect(book.ship({ ...ORDER, reference: 'a', attempt: 3 }).kind).toBe('shipped');
});

test('a seal says what was taken before it, and an older one opens nothing', () => {
  const { book } = setup();
  book.ship({ ...ORDER, reference: 'a', attempt: 1 });
  expect(book.seal('a', 2)).toEqual(FIRST);
  expect(book.seal('a', 1)).toEqual(FIRST);
  expect(book.ship({ ...ORDER, reference: 'a', attempt: 2 })).toEqual({ kind: 'sealed' });
});

test('all of it is there when the book is opened again', () => {
  const { book, open } = setup();
  book.ship({ ...ORDER, key: 'a' });
  book.ship({ ...ORDER, reference: 'b', attempt: 1 });
  book.seal('b', 1);
  const again = open();
  expect(again.ship({ ...ORDER, key: 'a' })).toMatchObject({ shipment: FIRST, isNew: false });
  expect(again.ship({ ...ORDER, reference: 'b', attempt: 1 })).toEqual({ kind: 'sealed' });
  expect(again.seal('b', 1)).toMatchObject({ number: 902 });
  expect(again.ship(ORDER)).toMatchObject({ shipment: { number: 903 } });
});

test('half a line at the end was never answered, and is dropped', () => {
  const { book, open, path } = setup();
  book.ship({ ...ORDER, key: 'a' });
  appendFileSync(path, '{"request_id":"label-req-8","par');
  const again = open();
  expect(again.find(902)).toBeUndefined();
  expect(again.ship({ ...ORDER, key: 'b' })).toMatchObject({ shipment: { number: 902 } });
  expect(open().find(902)).toMatchObject({ number: 902 });
});

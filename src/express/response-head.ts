import { STATUS_CODES } from 'node:http';
import { isUint8Array } from 'node:util/types';
import type { HeaderLine } from '../core/saved-response.ts';
import { DISPOSITION, IS_ASCII } from './content-disposition.ts';
import type { NodeResponse } from './node-response.ts';

/** Node's header map: lower-case name to the name as it was set, and its value or values. */
type HeaderMap = Record<string, readonly [name: string, value: unknown]>;

/** The headers that outer middleware had set before the hold. */
export class OuterHeaders {
  readonly lowerNames: string[] = [];
  readonly names: string[] = [];
  readonly values: unknown[] = [];

  constructor(res: NodeResponse) {
    const map = headerMap(res);
    for (const lower in map) {
      const [name, value] = map[lower] as HeaderMap[string];
      this.lowerNames.push(lower);
      this.names.push(name);
      // `appendHeader` pushes into the very array that is in the map.
      this.values.push(Array.isArray(value) ? value.slice() : value);
    }
  }

  /** Takes away what was set since, and sets again what was there. */
  restore(res: NodeResponse): void {
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    for (const [i, name] of this.names.entries()) res.setHeader(name, this.values[i] as string);
  }
}

/** The head that a handler gave its answer, frozen when Node built it. */
export class ResponseHead {
  readonly status: number;
  /** The reason phrase, when it is not the default one. */
  readonly reason: string | undefined;
  /** What is saved. Not saved: what outer middleware had set, and what is of one connection. */
  readonly lines: HeaderLine[] = [];
  /** Lower-case names that outer middleware had set and the handler removed. */
  readonly removedNames: string[] = [];
  /** Values of repeated names, all of them: the handler may still hold and change its array. */
  readonly arrays: [name: string, values: string[]][] = [];
  /** Lines of one connection that came as arguments of `writeHead`: for the first answer only. */
  readonly connectionLines: HeaderLine[] = [];
  /** Where `Content-Length` is in `lines`, or -1. */
  lengthAt = -1;
  /** Where the last `Content-Disposition` is in `lines`, or -1. */
  dispositionAt = -1;
  /** The headers are arguments of `writeHead`, which Node does not put into its map. */
  readonly fromArguments: boolean;
  /** A value of outer middleware was replaced, so lines would not be in the order of a replay. */
  reordered = false;

  constructor(res: NodeResponse, outer: OuterHeaders, args: readonly unknown[]) {
    const message = res.statusMessage;
    this.status = res.statusCode;
    this.reason = message === (STATUS_CODES[this.status] ?? 'unknown') ? undefined : message;
    const given = typeof args[1] === 'string' ? args[2] : (args[2] ?? args[1]);
    const map = headerMap(res);
    this.fromArguments = isObject(given) && isEmpty(map);
    if (this.fromArguments) this.#readArguments(given as object);
    else this.#readMap(map, outer);
  }

  /** Whether Node's built head is, line by line, what a replay sends. */
  get isInReplayOrder(): boolean {
    return !this.reordered && !this.fromArguments;
  }

  /** Corrects a `Content-Length` that is not the number of bytes; answers whether it was wrong. */
  mendLength(bytes: number): boolean {
    const line = this.lengthAt < 0 ? undefined : this.lines[this.lengthAt];
    if (line === undefined || Number(line[1]) === bytes) return false;
    this.lines[this.lengthAt] = [line[0], String(bytes)];
    return true;
  }

  /** What Node has made of a `Content-Disposition` in the head that it built, and will send. */
  readDisposition(built: string): void {
    // An index of -1 is slow to look up.
    const line = this.dispositionAt < 0 ? undefined : this.lines[this.dispositionAt];
    if (line === undefined || IS_ASCII.test(line[1])) return;
    const start = built.indexOf(`\r\n${line[0]}: `) + line[0].length + 4;
    const value = built.slice(start, built.indexOf('\r\n', start));
    this.lines[this.dispositionAt] = [line[0], Buffer.from(value, 'latin1').toString('latin1')];
  }

  /** Brings the response's header map to this head, in the order of a replay. */
  apply(res: NodeResponse): void {
    for (const [name, values] of this.arrays) res.setHeader(name, values);
    if (this.isInReplayOrder) return;
    replaceLines(res, this.lines.filter(isSet));
    for (const [name, value] of this.connectionLines) res.appendHeader(name, value);
  }

  #readMap(map: HeaderMap, outer: OuterHeaders): void {
    let next = 0;
    let found = 0;
    let hasOwn = false;
    for (const lower in map) {
      const [name, value] = map[lower] as HeaderMap[string];
      if (Array.isArray(value)) this.arrays.push([name, value.map(text)]);
      const at = outer.lowerNames[next] === lower ? next : outer.lowerNames.indexOf(lower);
      const isInPlace = !hasOwn && at >= next;
      if (at === -1) hasOwn = true;
      else {
        found += 1;
        next = at + 1;
      }
      if (isOfOneConnection(lower)) continue;
      if (at === -1) this.#add(lower, name, value);
      else this.#addChange(lower, name, value, isInPlace, outer.values[at]);
    }
    if (found < outer.lowerNames.length) this.#noteRemoved(map, outer);
  }

  #noteRemoved(map: HeaderMap, outer: OuterHeaders): void {
    for (const lower of outer.lowerNames) {
      if (map[lower] === undefined && !isOfOneConnection(lower)) this.removedNames.push(lower);
    }
  }

  #addChange(
    lower: string,
    name: string,
    value: unknown,
    isInPlace: boolean,
    outerValue: unknown,
  ): void {
    const added = isInPlace ? addedTo(outerValue, value) : undefined;
    if (added === undefined) {
      this.reordered = true;
      this.#add(lower, name, value);
      return;
    }
    for (const each of added) this.lines.push([name, text(each), 'added']);
  }

  #add(lower: string, name: string, value: unknown): void {
    if (lower === 'content-length') this.lengthAt = this.lines.length;
    else if (lower === DISPOSITION) this.dispositionAt = this.lines.length;
    if (!Array.isArray(value)) this.lines.push([name, text(value)]);
    else for (const each of value) this.lines.push([name, text(each)]);
  }

  #readArguments(given: object): void {
    if (!Array.isArray(given)) {
      for (const [name, value] of Object.entries(given)) this.#addArgument(name, value);
    } else if (Array.isArray(given[0])) {
      for (const [name, value] of given) this.#addArgument(name, value);
    } else {
      for (let i = 0; i < given.length; i += 2) this.#addArgument(given[i], given[i + 1]);
    }
  }

  #addArgument(name: string, value: unknown): void {
    const lower = name.toLowerCase();
    if (!isOfOneConnection(lower)) this.#add(lower, name, value);
    else for (const each of [value].flat()) this.connectionLines.push([name, text(each)]);
  }
}

/** Removes what the response has under each name, then appends value by value. */
export function replaceLines(res: NodeResponse, lines: readonly HeaderLine[]): void {
  for (const [name, , how] of lines) {
    if (how === undefined && res.hasHeader(name)) res.removeHeader(name);
  }
  for (const [name, value] of lines) appendLine(res, name, value);
}

/** By Express's `append`, but where that changes what is on the wire. */
function appendLine(res: NodeResponse, name: string, value: string): void {
  const before = res.getHeader(name);
  // It adds a charset to a media type.
  const isType = name.toLowerCase() === 'content-type';
  if (isType && before === undefined) res.setHeader(name, value);
  // It takes an empty value before for none.
  else if (isType || before === '' || res.append === undefined) res.appendHeader(name, value);
  else res.append(name, value);
}

const OF_ONE_CONNECTION = new Set([
  'connection',
  'date',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether a header belongs to one connection or one moment, and so never to a saved response. */
export function isOfOneConnection(lower: string): boolean {
  return OF_ONE_CONNECTION.has(lower) || lower.startsWith('proxy-');
}

function isSet([, , how]: HeaderLine): boolean {
  return how === undefined;
}

/** The values after those of outer middleware: none when left alone, undefined when replaced. */
function addedTo(outerValue: unknown, value: unknown): readonly unknown[] | undefined {
  if (value === outerValue) return [];
  const before = Array.isArray(outerValue) ? outerValue : [outerValue];
  const now = Array.isArray(value) ? value : [value];
  if (now.length < before.length) return undefined;
  for (const [i, each] of before.entries()) if (text(each) !== text(now[i])) return undefined;
  return now.slice(before.length);
}

/** Node turns the values of a `Content-Disposition` list into buffers of Latin-1. */
function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return isUint8Array(value) ? Buffer.from(value).toString('latin1') : String(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isEmpty(map: HeaderMap): boolean {
  for (const _ in map) return false;
  return true;
}

let mapSymbol: symbol | undefined;

/** Node's own map where it can be reached: reading it costs a fifth of the public methods. */
function headerMap(res: NodeResponse): HeaderMap {
  mapSymbol ??= Object.getOwnPropertySymbols(res).find(isMapSymbol);
  if (mapSymbol === undefined) return publicHeaderMap(res);
  return ((res as unknown as Record<symbol, unknown>)[mapSymbol] as HeaderMap | null) ?? {};
}

function isMapSymbol(symbol: symbol): boolean {
  return symbol.description === 'kOutHeaders';
}

/** The same map by public methods. */
function publicHeaderMap(res: NodeResponse): HeaderMap {
  const map: HeaderMap = Object.create(null);
  for (const name of res.getRawHeaderNames()) {
    map[name.toLowerCase()] = [name, res.getHeader(name)];
  }
  return map;
}

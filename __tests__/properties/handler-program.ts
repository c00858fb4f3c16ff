import type { Response } from 'express';
import fc from 'fast-check';
import type { Stage } from '../http/bare-and-held.ts';
import { stateOf, thrownBy, tick } from '../http/cases/observed.ts';
import { type LayerName, layerNames } from './layer.ts';

/** A handler as the calls that it makes, and what it makes them under. */
export interface HandlerProgram {
  readonly method: string;
  readonly isGzipAsked: boolean;
  readonly maxResponseBytes: number;
  /** Headers that outer middleware has set. */
  readonly outerHeaders: readonly (readonly [name: string, value: string | string[]])[];
  readonly outside: readonly LayerName[];
  readonly inside: readonly LayerName[];
  readonly steps: readonly Step[];
}

export interface Step {
  readonly does: string;
  readonly isEnd: boolean;
  act(stage: Stage): unknown;
}

/** Runs the steps one after another, and ends the answer if none of them did. */
export async function perform(program: HandlerProgram, stage: Stage): Promise<void> {
  const { steps, outside, inside } = program;
  const { res } = stage;
  res.on('error', () => undefined);
  for (const { act, isEnd } of steps) {
    const asked = act(stage);
    // How late a call after the end is, in turns, decides what Node makes of it.
    if (!res.writableEnded) await asked;
    // Layers that end answers by themselves, later, make a mess of calls after the end.
    if (isEnd && outside.length + inside.length > 0) break;
  }
  if (!res.writableEnded) res.end();
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

/** A call of a method of the response. It notes what the method throws. */
function call(method: string, ...args: readonly unknown[]): Step {
  return calling(method, args, '', () => []);
}

/** The same with a callback as the last argument. */
function callWithCallback(method: string, ...args: readonly unknown[]): Step {
  return calling(method, args, ' with callback', (log) => [() => log(method, 'called back')]);
}

function calling(
  method: string,
  args: readonly unknown[],
  suffix: string,
  more: (log: Stage['log']) => unknown[],
): Step {
  const does = `${method} ${JSON.stringify(args).slice(0, 60)}${suffix}`;
  const isEnd = /^(end|json|send|sendStatus|redirect)$/.test(method);
  return step(does, isEnd, ({ res, log }) => {
    const methods = res as Response & Methods;
    const own = args.map((each) => (Array.isArray(each) ? [...each] : each));
    const thrown = thrownBy(() => methods[method]?.(...own, ...more(log)));
    log(method, thrown);
  });
}

const other = (does: string, act: Step['act']): Step => step(does, false, act);

/** A counterexample shows what a step does. */
function step(does: string, isEnd: boolean, act: Step['act']): Step {
  return { does, isEnd, act, [fc.toStringMethod]: () => does } as Step;
}

const names = fc.constantFrom('X-A', 'x-b', 'ETag', 'Vary', 'X-Outer', 'Content-Type');
const listNames = fc.constantFrom('X-A', 'x-b', 'ETag', 'Vary', 'X-Outer');
const values = fc.constantFrom('1', 'text/html', '"tag"', 'x, y', '');
const lists = fc.array(values, { minLength: 1, maxLength: 3 });
const statuses = fc.constantFrom(200, 201, 204, 299, 304, 404, 422, 500, 503);
const texts = fc.constantFrom('', 'a', 'plain text', 'žluťoučký', 'x'.repeat(5000));

const chunks: fc.Arbitrary<readonly unknown[]> = fc.oneof(
  texts.map((text) => [text]),
  texts.map((text) => [Buffer.from(text)]),
  texts.map((text) => [new Uint8Array(Buffer.from(text))]),
  fc.constantFrom(['é', 'latin1'], ['c3a9', 'hex'], ['w6k=', 'base64'], ['ab', 'utf16le']),
);

const headSteps: fc.Arbitrary<Step>[] = [
  fc.tuple(names, values).map((args) => call('setHeader', ...args)),
  fc.tuple(listNames, lists).map((args) => call('setHeader', ...args)),
  fc.tuple(names, values).map((args) => call('appendHeader', ...args)),
  fc.tuple(listNames, values).map((args) => call('append', ...args)),
  fc.tuple(listNames, values).map((args) => call('set', ...args)),
  names.map((name) => call('removeHeader', name)),
  fc.constant(call('removeHeader', 'X-Powered-By')),
  fc.constantFrom('Accept', 'x, y').map((value) => call('vary', value)),
  fc.constantFrom('1', '2').map((value) => call('cookie', 'mine', value)),
  statuses.map((status) => call('status', status)),
  fc.constantFrom('json', 'text/html').map((type) => call('type', type)),
  fc.constant(
    other('statusMessage', ({ res }) => {
      res.statusMessage = 'Made';
    }),
  ),
];

const partSteps: fc.Arbitrary<Step>[] = [
  chunks.map((args) => call('write', ...args)),
  chunks.map((args) => callWithCallback('write', ...args)),
  fc.constant(call('flushHeaders')),
  statuses.map((status) => call('writeHead', status)),
  fc.tuple(statuses, names, values).map(([status, name, value]) => {
    return call('writeHead', status, { [name]: value });
  }),
  fc.tuple(statuses, names, values).map(([status, name, value]) => {
    return call('writeHead', status, 'Reason', [name, value, 'X-Flat', '1']);
  }),
  fc.constant(other('wait a turn', tick)),
  fc.constant(other('look', ({ res, log }) => log(stateOf(res).replace(/,"statusCode".*/, '')))),
];

const endSteps: fc.Arbitrary<Step>[] = [
  chunks.map((args) => call('end', ...args)),
  chunks.map((args) => callWithCallback('end', ...args)),
  fc.constant(call('end')),
  fc.constantFrom<unknown>({ a: 1 }, null, 'text', [1, 2]).map((value) => call('json', value)),
  fc.constantFrom<unknown>('text', Buffer.from([0, 255]), '').map((value) => call('send', value)),
  statuses.map((status) => call('sendStatus', status)),
  fc.constant(call('redirect', 303, '/elsewhere')),
];

const steps: fc.Arbitrary<Step[]> = fc
  .tuple(
    fc.array(fc.oneof(...headSteps), { maxLength: 5 }),
    fc.array(fc.oneof(...headSteps, ...partSteps), { maxLength: 5 }),
    fc.oneof(...endSteps),
    fc.array(fc.oneof(...headSteps, ...partSteps, ...endSteps), { maxLength: 3 }),
  )
  .map(([before, between, end, after]) => [...before, ...between, end, ...after]);

const outerHeaders = fc.array(
  fc.tuple(fc.constantFrom('X-Outer', 'Set-Cookie', 'Vary', 'x-b'), fc.oneof(values, lists)),
  { maxLength: 3 },
);

/** Programs without layers, and with some. */
export const handlerPrograms: fc.Arbitrary<HandlerProgram> = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'HEAD', 'GET'),
  isGzipAsked: fc.boolean(),
  maxResponseBytes: fc.constantFrom(1, 10, 1_000_000, 1_000_000),
  outerHeaders,
  outside: fc.oneof(fc.constant([]), fc.subarray(layerNames, { maxLength: 2 })),
  inside: fc.oneof(fc.constant([]), fc.subarray(layerNames, { maxLength: 2 })),
  steps,
});

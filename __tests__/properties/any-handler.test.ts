import fc from 'fast-check';
import { type Case, exceptFraming, type Run, Theatre } from '../http/bare-and-held.ts';
import { EXPRESS_VERSIONS } from '../http/express-versions.ts';
import { comparable, exceptDate, type WireAnswer } from '../http/wire.ts';
import { type HandlerProgram, handlerPrograms, perform } from './handler-program.ts';
import { layer, withoutLayers } from './layer.ts';

/** Machines of build services stand still for seconds. */
const TIMEOUT_MS = 120_000;

function setup(program: HandlerProgram): Case {
  const { method, isGzipAsked, maxResponseBytes, outerHeaders, outside, inside } = program;
  return {
    name: 'a program',
    asked: { method, headers: isGzipAsked ? ['Accept-Encoding: gzip'] : [] },
    options: { maxResponseBytes },
    outer: () => [
      (_req, res, next) => {
        for (const [name, value] of outerHeaders) {
          res.setHeader(name, Array.isArray(value) ? [...value] : value);
        }
        next();
      },
      ...outside.map(layer),
    ],
    inner: () => inside.map(layer),
    handler: (stage) => perform(program, stage),
  };
}

/** Whether the layers themselves do with it what they do without the middleware. */
function isFair({ outside, inside, steps, maxResponseBytes }: HandlerProgram): boolean {
  const layers = [...outside, ...inside].join();
  if (!/session|compression/.test(layers)) return true;
  // They take a callback for a chunk, and how much is kept depends on what they make of it.
  return maxResponseBytes > 10 && steps.every(({ does }) => !does.endsWith('callback'));
}

/** The order of lines, and that of callbacks and events, is the middleware's own. */
function seen(run: Run) {
  return {
    ...run,
    log: [...run.log].sort(),
    events: run.events.map((event) => event.replace(/,"statusCode".*/, '')),
    answers: run.answers.map((answer) => {
      const { lines, ...rest } = sent(answer);
      return { ...rest, lines: [...lines].sort() };
    }),
  };
}

function sent(answer: WireAnswer | undefined) {
  if (answer === undefined) throw new Error('There was no answer.');
  return comparable(withoutLayers(exceptDate(answer)));
}

function retried({ maxResponseBytes, method }: HandlerProgram, answer: WireAnswer) {
  const status = Number(answer.statusLine.split(' ')[1]);
  if (status >= 500) return 'request_pending';
  return method !== 'HEAD' && answer.body.length > maxResponseBytes ? 'response_not_kept' : '';
}

describe.each(EXPRESS_VERSIONS)('whatever a handler does under %s', (_, framework) => {
  test(
    'the client and the handler see what they see without the middleware, and so does a retry',
    async () => {
      const property = fc.asyncProperty(handlerPrograms.filter(isFair), async (program) => {
        const under = setup(program);
        await using bare = await new Theatre(framework, under, '', false).listen();
        await using held = await new Theatre(framework, under, '', true).listen();
        const expected = await bare.run();
        const first = await held.run();
        expect(seen(exceptFraming(first, expected))).toEqual(
          seen(exceptFraming(expected, expected)),
        );

        const [retry] = (await held.run()).answers;
        expect([held.runs, held.store?.early.filter((bytes) => bytes > 0)]).toEqual([1, []]);
        const error = retried(program, first.answers[0] as WireAnswer);
        if (error === '') expect(sent(retry)).toEqual(sent(first.answers[0]));
        else if (program.method !== 'HEAD') expect(sent(retry).body).toContain(error);
      });
      await fc.assert(property, { numRuns: 200 });
    },
    TIMEOUT_MS,
  );
});

import express from 'express';
import {
  type Case,
  type Express,
  exceptFraming,
  makeFiles,
  type Run,
  Theatre,
} from './bare-and-held.ts';
import { bodies } from './cases/bodies.ts';
import { compressions } from './cases/compression.ts';
import { events } from './cases/events.ts';
import { failures } from './cases/failures.ts';
import { sentFiles } from './cases/files.ts';
import { framings } from './cases/framings.ts';
import { heads } from './cases/heads.ts';
import { latin1 } from './cases/latin1.ts';
import { layers } from './cases/layers.ts';
import { outerHeaders } from './cases/outer-headers.ts';
import { streams } from './cases/streams.ts';
import { writes } from './cases/writes.ts';
import { comparable, exceptDate, type WireAnswer } from './wire.ts';

const FRAMEWORKS: [version: number, framework: Express][] = [
  [5, express],
  [4, require('express-4') as Express],
];

const TABLES: [about: string, cases: Case[]][] = [
  ['whole bodies', bodies],
  ['files', sentFiles],
  ['streams', streams],
  ['write and end', writes],
  ['heads', heads],
  ['values beyond ASCII', latin1],
  ['outer headers', outerHeaders],
  ['framing', framings],
  ['failures', failures],
  ['events and state', events],
  ['compression', compressions],
  ['outer and inner layers', layers],
];

/** Machines of build services stand still for seconds. */
const TIMEOUT_MS = 60_000;

const { files, remove } = makeFiles();
afterAll(remove);

async function setup(framework: Express, under: Case) {
  const bare = await new Theatre(framework, under, files, false).listen();
  const held = await new Theatre(framework, under, files, true).listen();
  return {
    bare,
    held,
    async [Symbol.asyncDispose]() {
      await bare[Symbol.asyncDispose]();
      await held[Symbol.asyncDispose]();
    },
  };
}

describe.each(FRAMEWORKS)('Express %i', (version, framework) => {
  const tables = TABLES.map(([about, cases]) => ({
    about,
    cases: cases.filter(({ only = version }) => only === version),
  }));

  describe.each(tables)('$about', ({ cases }) => {
    test.each(cases)(
      '$name: as bare, saved before its first byte, replayed',
      async (under) => {
        await using theatres = await setup(framework, under);
        const { bare, held } = theatres;
        const { ends = 'saved', alike = (run) => run, replayAlike = (answer) => answer } = under;

        const expected = await bare.run();
        const first = await held.run();
        expect(seen(alike(exceptFraming(first, expected)))).toEqual(
          seen(alike(exceptFraming(expected, expected))),
        );

        const [retry] = (await held.run()).answers;
        const store = held.store;
        expect(held.runs).toBe(1);
        expect(store?.saves).toBe(ends === 'pending' ? 0 : 1);
        expect(store?.early.filter((bytes) => bytes > 0)).toEqual([]);
        if (ends === 'saved') {
          const [answer] = first.answers;
          const same = (each: WireAnswer | undefined) =>
            each && comparable(replayAlike(exceptDate(each)));
          expect(same(retry)).toEqual(same(answer));
        } else {
          const code = ends === 'pending' ? 'request_pending' : 'response_not_kept';
          expect(retry?.body.toString()).toBe(`{"error":"${code}"}`);
        }
      },
      TIMEOUT_MS,
    );
  });
});

function seen(run: Run) {
  return { ...run, answers: run.answers.map(comparable) };
}

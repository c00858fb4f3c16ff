import { setImmediate as tick } from 'node:timers/promises';
import { endContext, neverStarted, runAs } from '../../src/express/never-started.ts';

function setup() {
  const said: string[] = [];
  /** A handler that says the word after a while. */
  const begin = (name: string) => {
    let done: Promise<void> = Promise.resolve();
    runAs({ sayNeverStarted: () => said.push(name) }, () => {
      done = (async () => {
        await tick();
        neverStarted(new Error(name));
      })();
    });
    return done;
  };
  return { said, begin };
}

describe.each([20, 22, 24])('as on Node %i', (nodeMajor) => {
  test('a handler is heard while and after others come and go', async () => {
    const { said, begin } = setup();
    const first = begin('first');
    const second = begin('second');
    endContext(nodeMajor);
    const third = begin('third');
    await Promise.all([first, second, third]);
    expect(said.sort()).toEqual(['first', 'second', 'third']);
    endContext(nodeMajor);
    endContext(nodeMajor);
    await Promise.all([begin('after a rest')]);
    endContext(nodeMajor);
    expect(said).toContain('after a rest');
  });

  test('the word outside of any handler reaches nobody', () => {
    const { said } = setup();
    neverStarted(new Error('nobody'));
    expect(said).toEqual([]);
  });
});

test('no context is kept for a handler that has ended, before Node 24', async () => {
  const { said, begin } = setup();
  const late = begin('late');
  endContext(22);
  await late;
  const isFramed = Number.parseInt(process.versions.node, 10) >= 24;
  expect(said).toEqual(isFramed ? ['late'] : []);
});

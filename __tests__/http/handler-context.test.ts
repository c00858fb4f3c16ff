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
  test('a handler is heard after another one has ended', async () => {
    const { said, begin } = setup();
    const both = [begin('first'), begin('second')];
    endContext(nodeMajor);
    await Promise.all(both);
    endContext(nodeMajor);
    expect(said.sort()).toEqual(['first', 'second']);
  });

  test('a handler is heard that comes after all others have ended', async () => {
    const { said, begin } = setup();
    await begin('first');
    endContext(nodeMajor);
    await begin('second');
    endContext(nodeMajor);
    expect(said).toEqual(['first', 'second']);
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

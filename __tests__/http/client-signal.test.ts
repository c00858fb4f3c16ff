import type { ServerResponse } from 'node:http';
import { isGone, whenGone } from '../../src/express/client-gone.ts';

/** A response in a state that a server passes through too quickly to be met there. */
function setup(state: Partial<ServerResponse>) {
  const listeners: (() => void)[] = [];
  const once = (_name: string, listener: () => void) => listeners.push(listener);
  const res = { destroyed: false, closed: false, writableFinished: false, once, ...state };
  let gone = 0;
  whenGone(res as unknown as ServerResponse, () => {
    gone += 1;
  });
  const close = () => {
    for (const listener of listeners) listener();
  };
  return { res, close, isGone: isGone(res as unknown as ServerResponse), gone: () => gone };
}

test('a client is gone when its response or its connection is', () => {
  const socket = { destroyed: true } as ServerResponse['socket'];
  for (const state of [{ destroyed: true }, { closed: true }, { socket }]) {
    const { isGone, gone } = setup(state);
    expect([isGone, gone()]).toEqual([true, 1]);
  }
  expect(setup({ socket: null }).isGone).toBe(false);
});

test('a client whose answer was written is not gone when its connection closes', () => {
  const written = setup({});
  Object.assign(written.res, { writableFinished: true });
  written.close();
  expect(written.gone()).toBe(0);
  const unwritten = setup({});
  unwritten.close();
  expect(unwritten.gone()).toBe(1);
  expect(setup({ writableFinished: true, closed: true }).gone()).toBe(0);
});

import { setTimeout as delay } from 'node:timers/promises';
import { type LaneRules, Lanes } from '../../src/stores/lanes.ts';

/** Lanes whose sendings are answered one by one, in the order of the test. */
function setup(rules: Partial<LaneRules<number, string>> = {}) {
  const sent: number[][] = [];
  const replies: { answer: () => void; fail: (error: Error) => void }[] = [];
  const hold = (items: readonly number[]) =>
    new Promise<void>((resolve, reject) => {
      sent.push([...items]);
      replies.push({ answer: resolve, fail: reject });
    });
  const lanes = new Lanes<number, string>({
    sendOne: async (item) => {
      await hold([item]);
      return `one ${item}`;
    },
    sendMany: async (items) => {
      await hold(items);
      return items.map((item) => (item < 0 ? undefined : `many ${item}`));
    },
    mayConcernOne: (error) => (error as Error).message === 'bad value',
    maxItems: 3,
    maxBytes: 100,
    lanes: 1,
    stuckAfterMs: 60_000,
    ...rules,
  });
  return { lanes, sent, replies };
}

test('a call goes alone while a lane is free; what comes meanwhile goes together', async () => {
  const { lanes, sent, replies } = setup();
  const first = lanes.send(1);
  await delay(10);
  const others = [2, 3, 4, 5].map((item) => lanes.send(item));
  await delay(10);
  expect(sent).toEqual([[1]]);
  replies[0]?.answer();
  expect(await first).toBe('one 1');
  await delay(10);
  expect(sent).toEqual([[1], [2, 3, 4]]);
  replies[1]?.answer();
  await delay(10);
  replies[2]?.answer();
  expect(await Promise.all(others)).toEqual(['many 2', 'many 3', 'many 4', 'one 5']);
});

test('what has no answer in a batch is sent by itself', async () => {
  const { lanes, sent, replies } = setup();
  const answers = Promise.all([lanes.send(1), lanes.send(-2)]);
  await delay(10);
  replies[0]?.answer();
  await delay(10);
  replies[1]?.answer();
  expect(await answers).toEqual(['many 1', 'one -2']);
  expect(sent).toEqual([[1, -2], [-2]]);
});

test('a batch that fails for what one of it may have caused is sent one by one', async () => {
  const { lanes, replies } = setup();
  const answers = Promise.allSettled([lanes.send(1), lanes.send(2)]);
  await delay(10);
  replies[0]?.fail(new Error('bad value'));
  await delay(10);
  replies[1]?.fail(new Error('bad value'));
  replies[2]?.answer();
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});

test('a batch whose outcome is not known is sent no second time', async () => {
  const { lanes, sent, replies } = setup();
  const answers = Promise.allSettled([lanes.send(1), lanes.send(2)]);
  await delay(10);
  replies[0]?.fail(new Error('connection lost'));
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await delay(10);
  expect(sent).toEqual([[1, 2]]);
});

test('a lane that is stuck stops nobody else', async () => {
  const { lanes, sent, replies } = setup({ stuckAfterMs: 50 });
  const stuck = lanes.send(1);
  await delay(10);
  const next = lanes.send(2);
  await delay(200);
  replies[1]?.answer();
  expect(await next).toBe('one 2');
  replies[0]?.answer();
  expect(await stuck).toBe('one 1');
  const after = [lanes.send(3), lanes.send(4)];
  await delay(10);
  replies[2]?.answer();
  await Promise.all(after);
  expect(sent).toEqual([[1], [2], [3, 4]]);
});

test('what is too many bytes together goes in parts, and a large one by itself', async () => {
  const { lanes, sent, replies } = setup({ bytesOf: (item) => item });
  const answers = [60, 60, 500, 10].map((item) => lanes.send(item));
  for (let n = 0; n < 4; n += 1) {
    await delay(10);
    replies[n]?.answer();
  }
  await Promise.all(answers);
  expect(sent).toEqual([[60], [60], [500], [10]]);
});

import {
  IdempotencyError,
  idempotencyMiddleware,
  idempotent,
  MemoryStore,
} from '../../src/index.ts';

function setup() {
  const build = (options: unknown, store: unknown = new MemoryStore()) =>
    idempotencyMiddleware(store as MemoryStore, options as object);
  const messageOf = (options: unknown, store?: unknown): string => {
    try {
      build(options, store);
    } catch (error) {
      expect(error).toBeInstanceOf(IdempotencyError);
      return (error as Error).message;
    }
    throw new Error('Nothing was thrown.');
  };
  return { build, messageOf };
}

describe('the middleware, when it is built', () => {
  test('has a short name, which is the same function', () => {
    expect(idempotent).toBe(idempotencyMiddleware);
    expect(idempotencyMiddleware.name).toBe('idempotencyMiddleware');
  });

  test('is called idempotency in stack traces', () => {
    expect(setup().build({}).name).toBe('idempotency');
  });

  test('takes every option at its documented value', () => {
    const options = {
      fingerprint: () => 'f',
      admit: () => 0,
      key: 'X-Request-Id',
      tenant: () => 't',
      operation: false,
      keep: () => 'save',
      methods: ['POST'],
      required: false,
      storeTimeoutMs: 1,
      admitTimeoutMs: 2_147_483_647,
      saveTimeoutMs: 1,
      maxResponseBytes: 0,
      warn: () => {},
    };
    expect(() => setup().build(options)).not.toThrow();
  });

  test('names an option that it does not know, and lists those that it knows', () => {
    const message = setup().messageOf({ finger: () => 'f', toString: 1 });
    expect(message).toContain(
      'got `finger`, `toString`. Known are fingerprint, admit, key, tenant',
    );
    expect(message).toContain('See docs/options.md.');
  });

  test.each([
    ['storeTimeout', 'storeTimeoutMs'],
    ['fingerPrint', 'fingerprint'],
    ['methodes', 'methods'],
  ])('asks of %s whether %s was meant', (written, meant) => {
    expect(setup().messageOf({ [written]: 1 })).toContain(`Did you mean \`${meant}\`?`);
  });

  test.each([
    ['options', 7, 'Expected idempotent(…) to be given an object of options, got 7.'],
    ['options', null, 'Expected idempotent(…) to be given an object of options, got null.'],
    ['options', [], 'to be given an object of options, got an array.'],
    [
      'fingerprint',
      { fingerprint: 'f' },
      '`fingerprint` of idempotent(…) to be a function, got "f"',
    ],
    ['admit', { admit: 0 }, '`admit` of idempotent(…) to be a function, got 0'],
    ['tenant', { tenant: 'acme' }, '`tenant` of idempotent(…) to be a function, got "acme"'],
    ['keep', { keep: true }, '`keep` of idempotent(…) to be a function, got true'],
    [
      'keep answers nothing',
      { keep: () => {} },
      "'save' or 'pending' for status 100, got one that answers undefined",
    ],
    ['warn', { warn: [] }, '`warn` of idempotent(…) to be a function, got an array'],
    [
      'key',
      { key: 'no header' },
      '`key` of idempotent(…) to be the name of a header, or a function, got "no header"',
    ],
    [
      'key',
      { key: {} },
      '`key` of idempotent(…) to be the name of a header, or a function, got object',
    ],
    [
      'operation',
      { operation: '' },
      '`operation` of idempotent(…) to be a name, a function or false, got ""',
    ],
    [
      'operation',
      { operation: true },
      '`operation` of idempotent(…) to be a name, a function or false, got true',
    ],
    [
      'methods',
      { methods: [] },
      '`methods` of idempotent(…) to be a list of at least one method, in capitals, got an array',
    ],
    [
      'methods',
      { methods: 'POST' },
      'to be a list of at least one method, in capitals, got "POST"',
    ],
    ['methods', { methods: ['post'] }, 'at least one method, in capitals, got an array'],
    ['methods', { methods: [1] }, 'at least one method, in capitals, got an array'],
    ['required', { required: 1 }, '`required` of idempotent(…) to be true or false, got 1'],
    [
      'storeTimeoutMs',
      { storeTimeoutMs: 0 },
      '`storeTimeoutMs` of idempotent(…) to be a whole number of milliseconds',
    ],
    [
      'admitTimeoutMs',
      { admitTimeoutMs: 1.5 },
      '`admitTimeoutMs` of idempotent(…) to be a whole number of',
    ],
    [
      'saveTimeoutMs',
      { saveTimeoutMs: 2 ** 31 },
      'to be a whole number of milliseconds from 1 to 2147483647, got 2147483648',
    ],
    [
      'saveTimeoutMs',
      { saveTimeoutMs: '5' },
      '`saveTimeoutMs` of idempotent(…) to be a whole number of',
    ],
    [
      'maxResponseBytes',
      { maxResponseBytes: -1 },
      'to be a whole number of bytes from 0 to 9007199254740991, got -1',
    ],
    [
      'maxResponseBytes',
      { maxResponseBytes: null },
      '`maxResponseBytes` of idempotent(…) to be a whole number',
    ],
  ])('says of a wrong %s what was expected and what came', (_, options, sentence) => {
    expect(setup().messageOf(options)).toContain(sentence);
  });

  test('says for which status keep threw, before the first request', () => {
    const broken = new Error('keep is broken');
    const keep = () => {
      throw broken;
    };
    const error = expect.objectContaining({ code: 'option_invalid', cause: broken });
    expect(() => setup().build({ keep })).toThrow(error);
    expect(setup().messageOf({ keep })).toContain('`keep` to answer for status 100');
  });

  test('says of a store that is opened to await it, and of a class to make one', () => {
    const { messageOf } = setup();
    const opened = Promise.resolve(new MemoryStore());
    expect(messageOf({}, opened)).toContain('got a promise: write `await SqliteStore.open(…)`');
    expect(messageOf({}, MemoryStore)).toContain('got the class: write `new MemoryStore(…)`');
  });

  test.each([undefined, null, {}, 'redis', () => {}])('refuses %p for a store', (store) => {
    expect(setup().messageOf({}, store ?? null)).toContain('without claim, complete, release');
  });

  test('says so when it was mounted without being called', () => {
    const request = { method: 'POST', headers: {}, url: '/' };
    expect(setup().messageOf({}, request)).toContain('mounted without being called');
  });
});

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
    expect(message).toContain('got finger, toString');
    expect(message).toContain('fingerprint, admit, key, tenant, operation, keep, methods');
  });

  test.each([
    ['options', 7, 'Expected options to be an object, got 7.'],
    ['options', null, 'Expected options to be an object, got null.'],
    ['options', [], 'Expected options to be an object, got an array.'],
    ['fingerprint', { fingerprint: 'f' }, '`fingerprint` to be a function, got "f"'],
    ['admit', { admit: 0 }, '`admit` to be a function, got 0'],
    ['tenant', { tenant: 'acme' }, '`tenant` to be a function, got "acme"'],
    ['keep', { keep: true }, '`keep` to be a function, got true'],
    [
      'keep answers nothing',
      { keep: () => {} },
      "'save' or 'pending' for status 100, got undefined",
    ],
    ['warn', { warn: [] }, '`warn` to be a function, got an array'],
    [
      'key',
      { key: 'no header' },
      '`key` to be the name of a header, or a function, got "no header"',
    ],
    ['key', { key: {} }, '`key` to be the name of a header, or a function, got object'],
    ['operation', { operation: '' }, '`operation` to be a name, a function or false, got ""'],
    ['operation', { operation: true }, '`operation` to be a name, a function or false, got true'],
    ['methods', { methods: [] }, '`methods` to be a list of at least one method, got an array'],
    ['methods', { methods: 'POST' }, '`methods` to be a list of at least one method, got "POST"'],
    ['methods', { methods: ['post'] }, '`methods` to be methods in capitals, got "post"'],
    ['methods', { methods: [1] }, '`methods` to be methods in capitals, got 1'],
    ['required', { required: 1 }, '`required` to be true or false, got 1'],
    [
      'storeTimeoutMs',
      { storeTimeoutMs: 0 },
      '`storeTimeoutMs` to be a whole number of milliseconds',
    ],
    ['admitTimeoutMs', { admitTimeoutMs: 1.5 }, '`admitTimeoutMs` to be a whole number of'],
    [
      'saveTimeoutMs',
      { saveTimeoutMs: 2 ** 31 },
      '`saveTimeoutMs` to be a whole number of milliseconds from 1 to 2147483647, got 2147483648',
    ],
    ['saveTimeoutMs', { saveTimeoutMs: '5' }, '`saveTimeoutMs` to be a whole number of'],
    [
      'maxResponseBytes',
      { maxResponseBytes: -1 },
      '`maxResponseBytes` to be a whole number of bytes from 0, got -1',
    ],
    ['maxResponseBytes', { maxResponseBytes: null }, '`maxResponseBytes` to be a whole number'],
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

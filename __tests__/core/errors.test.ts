import { FencedError, IdempotencyError, RecordTooLargeError } from '../../src/core/errors.ts';

describe('an error of this package', () => {
  test('is known by its class, also as an error of another copy of the package', () => {
    const brand = Symbol.for('express-idempotent.error');
    const foreign = Object.assign(new Error('fenced'), { [brand]: true, code: 'fenced' });
    expect(foreign).toBeInstanceOf(IdempotencyError);
    expect(foreign).toBeInstanceOf(FencedError);
    expect(foreign).not.toBeInstanceOf(RecordTooLargeError);
    for (const value of [new Error('fenced'), null, undefined, 'fenced', { code: 'fenced' }]) {
      expect(value instanceof IdempotencyError).toBe(false);
      expect(value instanceof FencedError).toBe(false);
    }
  });

  test('is not known by the class of a user that extends it', () => {
    class LabelError extends IdempotencyError {}
    const error = new LabelError('store_failed', 'labels');
    expect(error).toBeInstanceOf(LabelError);
    expect(error).toBeInstanceOf(IdempotencyError);
    expect(new IdempotencyError('store_failed', 'store')).not.toBeInstanceOf(LabelError);
  });

  test('has a name, a code, the status 500 and its cause', () => {
    const cause = new Error('why');
    const errors = [
      new IdempotencyError('store_busy', 'busy', { cause }),
      new FencedError({ cause }),
      new RecordTooLargeError('large', { cause }),
    ];
    expect(errors.map(({ name, code }) => [name, code])).toEqual([
      ['IdempotencyError', 'store_busy'],
      ['FencedError', 'fenced'],
      ['RecordTooLargeError', 'record_too_large'],
    ]);
    for (const error of errors) expect(error).toMatchObject({ status: 500, cause });
    expect('cause' in new IdempotencyError('store_busy', 'busy')).toBe(false);
  });
});

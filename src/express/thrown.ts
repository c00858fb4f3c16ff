import { IdempotencyError } from '../core/errors.ts';

/**
 * What Express is told of a value that was thrown. Nothing, `'route'` and `'router'` would lead it
 * on, to a handler that no reservation protects: they become an error that has them as its cause.
 */
export function errorOf(thrown: unknown): unknown {
  if (thrown && thrown !== 'route' && thrown !== 'router') return thrown;
  return new IdempotencyError(
    'not_an_error',
    'Expected what an option or a store throws to be an error, got a value that Express takes ' +
      'for none. Throw an Error.',
    { cause: thrown },
  );
}

import type { IdempotencyError } from '../../core/errors.ts';
import { invalidOption, kindOf } from '../../core/option-check.ts';
import type { PgPool, PostgresClient, PostgresJsSql, PostgresQueryable } from './client.ts';
import type { PostgresDriver } from './driver.ts';
import { POSTGRES_STORE } from './options.ts';
import { PgPoolDriver } from './pg-pool-driver.ts';
import { PostgresJsDriver } from './postgres-js-driver.ts';
import { QueryDriver } from './query-driver.ts';

/**
 * What the user gave as `client`, told apart by its methods.
 *
 * @throws {IdempotencyError} `option_invalid`.
 */
export function driverOf(client: PostgresClient, prepare: boolean): PostgresDriver {
  const { connect, query, unsafe, totalCount, _connected } = (client ?? {}) as unknown as {
    readonly [name: string]: unknown;
  };
  if (typeof unsafe === 'function') return new PostgresJsDriver(client as PostgresJsSql, prepare);
  if (typeof connect === 'function' && typeof totalCount === 'number') {
    return new PgPoolDriver(client as PgPool, prepare);
  }
  if (_connected !== undefined) {
    throw invalid(
      'one connection of pg, on which every request would wait for all others: give a Pool of pg',
    );
  }
  if (typeof query === 'function') return new QueryDriver(client as PostgresQueryable);
  throw invalid(kindOf(client));
}

function invalid(got: string): IdempotencyError {
  const expected = 'a Pool of pg, the sql of postgres.js, or an object with query(text, values)';
  return invalidOption(POSTGRES_STORE, 'client', expected, got);
}

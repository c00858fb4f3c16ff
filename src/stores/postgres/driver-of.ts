import { IdempotencyError } from '../../core/errors.ts';
import type { PgPool, PostgresClient, PostgresJsSql, PostgresQueryable } from './client.ts';
import type { PostgresDriver } from './driver.ts';
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
      'got one connection of pg, on which every request would wait for all others. ' +
        'Give a Pool of pg.',
    );
  }
  if (typeof query === 'function') return new QueryDriver(client as PostgresQueryable);
  throw invalid(`got ${client === null ? 'null' : `a value of type ${typeof client}`}.`);
}

function invalid(what: string): IdempotencyError {
  return new IdempotencyError(
    'option_invalid',
    'PostgresStore: option "client" must be a Pool of pg, the sql of postgres.js, or an object ' +
      `with query(text, values); ${what}`,
  );
}

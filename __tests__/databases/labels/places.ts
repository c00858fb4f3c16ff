import { DatabaseSync } from 'node:sqlite';
import { MariaDbServer } from '../servers/mariadb.ts';
import { PostgresServer } from '../servers/postgres.ts';
import { RedisServer } from '../servers/redis.ts';

/** One choice of STORE: a server that the test has started, and the labels beside the records. */
export interface Place {
  readonly env: NodeJS.ProcessEnv;
  /** How many labels there are, by request id. `path` is the SQLite file of the services. */
  labelsByRequest(path: string): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

const COUNT = 'SELECT request_id, count(*) AS labels FROM labels GROUP BY request_id';

export const PLACES: { readonly [store: string]: () => Promise<Place> } = {
  async postgres() {
    const server = await PostgresServer.start();
    return {
      env: { STORE: 'postgres', DATABASE_URL: server.url },
      labelsByRequest: async () => counts(await server.query(COUNT)),
      stop: () => server.stop(),
    };
  },
  async mysql() {
    const server = await MariaDbServer.start();
    return {
      env: { STORE: 'mysql', DATABASE_URL: server.url },
      // What counts is of another user, who is in no database.
      labelsByRequest: async () =>
        counts(await server.query(COUNT.replace('labels GROUP', `${server.address.database}.$&`))),
      stop: () => server.stop(),
    };
  },
  async redis() {
    const server = await RedisServer.start();
    return {
      env: { STORE: 'redis', REDIS_URL: `redis://127.0.0.1:${server.port}` },
      labelsByRequest: async (path) => {
        const database = new DatabaseSync(path);
        try {
          return counts(database.prepare(COUNT).all());
        } finally {
          database.close();
        }
      },
      stop: () => server.stop(),
    };
  },
};

function counts(rows: readonly object[]): ReadonlyMap<string, number> {
  return new Map(
    rows.map((row) => {
      const { request_id, labels } = row as { request_id: string; labels: unknown };
      return [request_id, Number(labels)];
    }),
  );
}

import * as mysql from '../../src/stores/mysql/index.ts';
import { MySqlStore } from '../../src/stores/mysql/index.ts';
import * as postgres from '../../src/stores/postgres/index.ts';
import { PostgresStore } from '../../src/stores/postgres/index.ts';
import { RedisStore } from '../../src/stores/redis/index.ts';

type Make = (library: unknown, options?: object) => unknown;

const ADAPTERS: readonly (readonly [string, Make, string])[] = [
  ['pgTransactions', postgres.pgTransactions as Make, 'a Pool of pg'],
  ['postgresJsTransactions', postgres.postgresJsTransactions as Make, 'the sql of postgres.js'],
  ['kyselyTransactions', postgres.kyselyTransactions as Make, 'a Kysely'],
  ['drizzleTransactions', postgres.drizzleTransactions as Make, 'a database as drizzle'],
  ['knexTransactions', postgres.knexTransactions as Make, 'a Knex'],
  ['prismaTransactions', postgres.prismaTransactions as Make, 'a PrismaClient'],
  ['sequelizeTransactions', postgres.sequelizeTransactions as Make, 'a Sequelize'],
  ['typeormTransactions', postgres.typeormTransactions as Make, 'a DataSource of TypeORM'],
  ['mysql2Transactions', mysql.mysql2Transactions as Make, 'a promise pool'],
  ['knexTransactions', mysql.knexTransactions as Make, 'a Knex'],
  ['kyselyTransactions', mysql.kyselyTransactions as Make, 'a Kysely'],
];

test.each(ADAPTERS)(
  '%s is given its library when it is built, and tells nothing of what came instead',
  (name, make, expected) => {
    for (const [library, got] of [
      [undefined, 'undefined'],
      [null, 'null'],
      ['postgres://shop:secret@host/shop', 'a string'],
      [{ query() {} }, 'object'],
    ] as const) {
      const build = () => make(library);
      expect(build).toThrow(expect.objectContaining({ code: 'option_invalid' }));
      expect(build).toThrow(`Expected ${name}(…) to be given ${expected}`);
      expect(build).toThrow(`got ${got}. See docs/stores/`);
    }
  },
);

test('Drizzle on a driver of another kind is refused', () => {
  const db = { transaction() {}, _: { session: { client: { query() {} } } } };
  expect(() => postgres.drizzleTransactions(db as never)).toThrow('as drizzle(new Pool()) or');
});

class Pool {
  readonly options = {};
}

test.each([
  ['PostgresStore', (client: never) => new PostgresStore(client)],
  ['MySqlStore', (client: never) => new MySqlStore(client)],
  ['RedisStore', (client: never) => new RedisStore(client)],
])('%s says so when it is given the client itself', (name, build) => {
  expect(() => build(new Pool() as never)).toThrow(
    `Expected ${name} to be given { client }, got the Pool itself. Write new ${name}({ client:`,
  );
});

test('a text in place of a client is not told: it may hold a password', () => {
  const client = 'redis://:secret@host' as never;
  for (const build of [
    () => new PostgresStore({ client }),
    () => new MySqlStore({ client }),
    () => new RedisStore({ client }),
  ]) {
    expect(build).toThrow(/^Expected the option `client` of \w+ to be .*, got a string\. See /);
  }
});

test('nor is one in place of a seal, or of a pool', () => {
  const client = { query() {} } as never;
  const secret = 'correct horse battery staple';
  const sealed = () => new PostgresStore({ client, seal: secret as never });
  expect(sealed).toThrow(/^Expected the option `seal` of PostgresStore .*, got a string\. See /);
  const pooled = () =>
    postgres.kyselyTransactions({ transaction() {} } as never, { pool: secret as never });
  expect(pooled).toThrow(/^Expected the option `pool` of kysely.* got a string\. See /);
});

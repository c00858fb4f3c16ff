import { sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { drizzle as drizzleOnPostgresJs, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { Pool } from 'pg';
import postgres from 'postgres';
import { drizzleTransactions } from '../../../../../src/stores/postgres/index.ts';
import type { LibraryUnderTest } from './library.ts';

const labels = pgTable('labels', { name: text() });

type OnPg = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];
type OnPostgresJs = Parameters<Parameters<PostgresJsDatabase['transaction']>[0]>[0];

export const DRIZZLE_PG: LibraryUnderTest<OnPg> = {
  trips: { begin: 1, all: 4 },
  isLazy: true,
  async connect(address) {
    const pool = new Pool(address);
    pool.on('error', () => {});
    const db = drizzle(pool);
    return {
      adapter: (options) => drizzleTransactions(db, options),
      insert: (tx, name) => tx.insert(labels).values({ name }),
      raw: (tx, statement) => tx.execute(sql.raw(statement)),
      query: (statement) => pool.query(statement),
      ends: [(tx) => tx.execute(sql`commit`)],
      savepoint: (tx, inside) => tx.transaction((inner) => inside(inner)),
      close: () => pool.end(),
    };
  },
};

export const DRIZZLE_POSTGRES_JS: LibraryUnderTest<OnPostgresJs> = {
  // Drizzle prepares nothing, and postgres.js asks for the types of what is not prepared.
  trips: { begin: 1, all: 5 },
  isLazy: true,
  async connect(address) {
    const client = postgres({ ...address, onnotice: () => {} });
    const db = drizzleOnPostgresJs(client);
    return {
      adapter: (options) => drizzleTransactions(db, options),
      insert: (tx, name) => tx.insert(labels).values({ name }),
      raw: (tx, statement) => tx.execute(sql.raw(statement)),
      query: (statement) => client.unsafe(statement),
      ends: [(tx) => tx.execute(sql`commit`)],
      savepoint: (tx, inside) => tx.transaction((inner) => inside(inner)),
      close: () => client.end({ timeout: 1 }),
    };
  },
};

export type { SqliteDurability } from './durability.ts';
export type { SqliteHandle, SqliteHandleStatement } from './handle.ts';
export { type SqliteMigration, sqliteMigrations } from './migrations.ts';
export { SqliteStore, type SqliteStoreOptions } from './store.ts';

export type { SqliteDurability } from './durability.ts';
export type { SqliteHandle, SqliteHandleStatement } from './handle.ts';
export { type SqliteMigration, sqliteMigrations } from './migrations.ts';
export type { SqliteStoreOptions } from './options.ts';
export { SqliteStore } from './store.ts';

import { checkOptions } from '../../core/option-check.ts';
import { RETENTION_RULES, type RetentionOptions } from '../retention.ts';
import { TABLE_NAME } from './table-name.ts';

/** The options of {@link SqliteStore}. */
export interface SqliteStoreOptions extends RetentionOptions {
  /**
   * The table that holds the records. Its name is quoted, whatever it holds; the names of its
   * indexes, and of the table that numbers its migrations, begin with it.
   *
   * @default 'idempotency_records'
   */
  readonly table?: string;
}

/** Whose options they are. */
export const SQLITE_STORE = { name: 'SqliteStore', page: 'docs/stores/sqlite.md' };

/** @throws {IdempotencyError} `option_invalid`. */
export function checkSqliteOptions(options: SqliteStoreOptions): void {
  checkOptions<SqliteStoreOptions>(SQLITE_STORE, options, {
    ...RETENTION_RULES,
    table: TABLE_NAME,
  });
}

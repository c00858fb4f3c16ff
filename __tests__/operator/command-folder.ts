import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runCommandLine } from '../../src/operator/command-line.ts';
import { SqliteStore } from '../../src/stores/sqlite/index.ts';
import { TemporaryDirectory } from '../contract/sqlite/database.ts';
import { DRIVERS, sqliteDriver } from '../contract/sqlite/driver.ts';
import { type CommandProcessOptions, type Ended, runCommand } from './command-process.ts';

const ENV = { IDEMPOTENCY_STORE: 'sqlite:./records.db', USER: 'operator' };
const BETTER_SQLITE3 = 'better-sqlite3-12';

/** The packages of a project, and which of those of the tests they are. */
export type Installed = Readonly<Record<string, string>>;

/** A project of a user's: a database, and the driver that its Node needs, or others. */
export class CommandFolder {
  readonly #directory = new TemporaryDirectory();
  readonly #ends: (() => unknown)[] = [];

  constructor(installed: Installed = { 'better-sqlite3': BETTER_SQLITE3 }) {
    const modules = this.#directory.file('node_modules');
    mkdirSync(modules);
    for (const [name, driver] of Object.entries(installed)) {
      symlinkSync(join(DRIVERS, 'node_modules', driver), join(modules, name));
    }
  }

  get path(): string {
    return this.#directory.path;
  }

  /** A store on `records.db`, which the commands are told to open too. */
  async store(): Promise<SqliteStore> {
    const driver = sqliteDriver('node:sqlite') ?? sqliteDriver(BETTER_SQLITE3);
    const handle = driver?.open(this.#directory.file('records.db'));
    if (handle === undefined) throw new Error('There is no driver of SQLite.');
    this.#ends.push(() => handle.close());
    const store = new SqliteStore(handle);
    await store.migrate();
    return store;
  }

  write(name: string, content: string): void {
    writeFileSync(this.#directory.file(name), content);
  }

  /** Runs a command in this process, which is a second faster than in one of its own. */
  async run(args: readonly string[], env: NodeJS.ProcessEnv = ENV): Promise<Ended> {
    const said = { stdout: '', stderr: '' };
    const code = await runCommandLine({
      args,
      env,
      folder: this.path,
      input: Readable.from([]),
      print: (line) => {
        said.stdout += `${line}\n`;
      },
      complain: (line) => {
        said.stderr += `${line}\n`;
      },
    });
    return { code, ...said };
  }

  /** Runs a command as its user does. */
  spawn(args: readonly string[], options: CommandProcessOptions = {}): Promise<Ended> {
    return runCommand(this.path, args, { ...options, env: { ...ENV, ...options.env } });
  }

  remove(): void {
    for (const end of this.#ends) end();
    this.#directory.remove();
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { WorkerTask } from './worker.ts';

/** A process of its own that does a task on a file. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #stdout = '';
  #stderr = '';

  constructor(task: WorkerTask) {
    const hook = join(__dirname, '../typescript-hook.cjs');
    const worker = JSON.stringify(join(__dirname, 'worker.ts'));
    const args = ['-r', hook, '-e', `require(${worker})`, JSON.stringify(task)];
    this.#child = spawn(process.execPath, args, { stdio: 'pipe' });
    this.#ended = once(this.#child, 'close');
    this.#child.stdout?.on('data', (chunk) => {
      this.#stdout += chunk;
    });
    this.#child.stderr?.on('data', (chunk) => {
      this.#stderr += chunk;
    });
  }

  /** The complete lines that it has said so far. */
  get said(): string[] {
    return this.#stdout.split('\n').slice(0, -1);
  }

  /** Resolves when it waits for {@link go}. */
  async ready(): Promise<this> {
    while (this.said.length === 0) {
      await Promise.race([once(this.#child.stdout ?? this.#child, 'data'), this.#ended]);
      if (this.#child.exitCode !== null) throw new Error(`It did not start: ${this.#stderr}`);
    }
    return this;
  }

  go(): void {
    this.#child.stdin?.write('go\n');
  }

  /** Resolves with what it said after `ready`, when it has ended well. */
  async end(): Promise<string[]> {
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`It failed: ${this.#stderr}`);
    return this.said.slice(1);
  }

  /** As `kill -9`; resolves with what it said after `ready`. */
  async kill(): Promise<string[]> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    if (this.#child.signalCode !== 'SIGKILL') throw new Error(`It failed: ${this.#stderr}`);
    return this.said.slice(1);
  }
}

import { writeSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TransactionAdapter, TransactionLimits } from '../../src/index.ts';
import type { Command } from './crash-case.ts';

type Method = (...args: unknown[]) => unknown;

/** What is to happen in this process to one key: in all that is done for it, at a named point. */
export class Interruption {
  #key = '';
  #stopAt: string | undefined;
  #lose = new Set<string>();
  #command: Command = {};

  arm(key: string, command: Command): void {
    this.#key = key;
    this.#command = command;
    this.#stopAt = command.stopAt;
    this.#lose = new Set(command.lose);
  }

  /** What was asked of the handler of `key`. */
  commandFor(key: string): Command {
    return key === this.#key ? this.#command : {};
  }

  /** Stops the process if this is the point: not one instruction of it runs before it is woken. */
  reach(point: string): void {
    if (this.#stopAt !== point) return;
    this.#stopAt = undefined;
    say(`met ${this.#key}`);
    process.kill(process.pid, 'SIGSTOP');
  }

  /** The points before and after each method of `owner`, and replies that are lost. */
  around<T extends object>(owner: T): T {
    return new Proxy(owner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function' || name === 'constructor') return value;
        return (...args: unknown[]) => this.#call(String(name), value.bind(target), args);
      },
    });
  }

  /** The points around the beginning and the end of each transaction. */
  watched<T>(adapter: TransactionAdapter<T>): TransactionAdapter<T> {
    const { dialect } = adapter;
    const begin = async (limits: TransactionLimits) => this.around(await adapter.begin(limits));
    return this.around({ dialect, begin });
  }

  /** The points at the first byte: before the system has it, and after. */
  watchSockets(server: Server): void {
    server.on('connection', (socket) => {
      for (const name of ['_write', '_writev'] as const) this.#watchWrites(socket, name);
    });
  }

  #watchWrites(socket: Socket, name: '_write' | '_writev'): void {
    const write = (socket[name] as Method).bind(socket);
    socket[name] = (...args: unknown[]) => {
      this.reach('before first byte');
      write(...args);
      this.reach('first byte');
    };
  }

  #call(name: string, method: Method, args: unknown[]): unknown {
    const record = args.find((arg) => typeof arg === 'string');
    // A call without a record key is one of the transaction of the only request here.
    if (record !== undefined && !record.includes(this.#key)) return method(...args);
    this.reach(`before ${name}`);
    const answer = method(...args);
    const isPromise = typeof (answer as PromiseLike<unknown> | undefined)?.then === 'function';
    return isPromise ? this.#answered(name, answer as Promise<unknown>) : answer;
  }

  async #answered(name: string, answer: Promise<unknown>): Promise<unknown> {
    const value = await answer;
    this.reach(`after ${name}`);
    await this.loseReply(name);
    return value;
  }

  /** Whether the reply to `call` is lost, by an error. */
  loses(call: string): boolean {
    if (!this.#lose.delete(call)) return false;
    say(`met ${this.#key}`);
    return true;
  }

  async loseReply(call: string): Promise<void> {
    if (!this.loses(call)) return;
    if (this.#command.isRejected) throw new Error('The reply was lost.');
    await new Promise(() => {});
  }
}

/** In the pipe before the next statement: what was said outlives a kill. */
export function say(line: string): void {
  writeSync(1, `${line}\n`);
}

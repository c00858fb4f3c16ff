import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command, Mode } from './crash-case.ts';
import type { Answer } from './observation.ts';
import type { ReplicaTask } from './replica-program.ts';

/** A service in a process of its own, which can be killed, stopped and woken. */
export class Replica {
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess;
  readonly #said: string[] = [];
  readonly #ended: Promise<unknown>;
  #port = 0;
  #onLine: () => void = () => {};
  #stderr = '';

  private constructor(program: string, task: ReplicaTask, onGranted: OnGranted) {
    const hook = join(__dirname, '../contract/typescript-hook.cjs');
    const args = ['-r', hook, '-e', `require(${JSON.stringify(program)})`, JSON.stringify(task)];
    const env = { ...process.env, NODE_ENV: 'test', NODE_NO_WARNINGS: '1' };
    this.#child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#guard = guardOf(this.#child.pid ?? 0);
    this.#ended = once(this.#child, 'exit').then(() => this.#guard.kill('SIGKILL'));
    RUNNING.add(this);
    this.#child.stderr?.on('data', (chunk) => {
      this.#stderr += chunk;
    });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('It has no output.');
    createInterface({ input: stdout }).on('line', (line) => {
      this.#said.push(line);
      this.#onLine();
      const [word, key = '', number] = line.split(' ');
      if (word === 'granted') onGranted(key, Number(number));
    });
  }

  /** Resolves when it listens. `onGranted` is told each number that its store gives. */
  static async start(program: string, task: ReplicaTask, onGranted: OnGranted): Promise<Replica> {
    const replica = new Replica(program, task, onGranted);
    const listening = await replica.#line('listening ');
    if (listening === undefined) throw new Error(`It did not start: ${replica.#stderr}`);
    replica.#port = Number(listening);
    return replica;
  }

  /** Resolves when it has met what it was commanded for `key`; false when it does not by `end`. */
  async meets(key: string, end: Promise<unknown>): Promise<boolean> {
    const met = this.#line(`met ${key}`).then((line) => line !== undefined);
    // The client may be told before the line has come here.
    const late = end.then(() => delay(GRACE_MS, false, { ref: false }));
    return Promise.race([met, late]);
  }

  /** Asks in a mode, on a connection of its own. Never rejects. */
  async ask(mode: Mode, key: string, command: Command = {}): Promise<Answer> {
    const headers = { 'Idempotency-Key': key, 'x-command': JSON.stringify(command) };
    try {
      const { response, body } = await this.#send('POST', `/${mode}`, headers);
      const lines = linesOf(response);
      const { statusCode = 0 } = response;
      return { status: statusCode, text: [String(statusCode), ...lines, '', body].join('\n') };
    } catch {
      return { status: 0, text: '' };
    }
  }

  /** The numbers of the attempts whose effects are in its database. */
  async effectsOf(key: string): Promise<number[]> {
    const { body } = await this.#send('GET', '/effects', { 'Idempotency-Key': key });
    return JSON.parse(body);
  }

  wake(): void {
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    RUNNING.delete(this);
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Leaves none behind, whatever has failed. */
  static async killAll(): Promise<void> {
    await Promise.all([...RUNNING].map((replica) => replica.kill()));
  }

  async #send(method: string, path: string, headers: Record<string, string>) {
    const options = { method, path, headers, port: this.#port, host: '127.0.0.1', agent: false };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const asking = request(options, resolve).on('error', reject);
      asking.setTimeout(PATIENCE_MS, () => asking.destroy(new Error('There was no answer.')));
      asking.end();
    });
    return { response, body: await text(response) };
  }

  /** What it says after `start`, when it has; `undefined` if it ends before. */
  async #line(start: string): Promise<string | undefined> {
    let hasEnded = false;
    const ended = this.#ended.then(() => {
      hasEnded = true;
    });
    for (;;) {
      const line = this.#said.find((said) => said.startsWith(start));
      if (line !== undefined || hasEnded) return line?.slice(start.length);
      const next = new Promise<void>((resolve) => {
        this.#onLine = resolve;
      });
      await Promise.race([next, ended]);
    }
  }
}

const RUNNING = new Set<Replica>();

type OnGranted = (key: string, number: number) => void;

const GRACE_MS = 2_000;
/** Longer than a process is stopped. */
const PATIENCE_MS = 20_000;

/** What has to be equal, in the order of the wire. */
function linesOf({ rawHeaders }: IncomingMessage): string[] {
  const lines: string[] = [];
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n] ?? '';
    if (!/^(date|connection|keep-alive)$/i.test(name)) lines.push(`${name}: ${rawHeaders[n + 1]}`);
  }
  return lines;
}

/** Kills the replica once this process is gone: one that is stopped would stay for ever. */
function guardOf(pid: number): ChildProcess {
  const guard = spawn('sh', ['-c', 'cat; kill -KILL "$0"', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as Socket | null)?.unref();
  return guard;
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Who runs the servers: database servers refuse to run as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The first of `names` that this machine knows, when the tests run as root; else whoever runs. */
export function serverUser(...names: string[]): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of [...names, 'nobody']) {
    const user = users.find(([each]) => each === name);
    if (user !== undefined) return { uid: Number(user[2]), gid: Number(user[3]) };
  }
  throw new Error('Running as root, and there is no user "nobody" to run a database server as.');
}

/** A new directory that `user` may write, below the one for temporary files. */
export function serverDirectory(name: string, user: ServerUser): string {
  const path = mkdtempSync(join(tmpdir(), `express-idempotent-${name}-`));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid);
  return path;
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * One server in a process of its own, with a directory of its own. It ends with this process, in
 * whatever way that ends: a shell waits for the end of a pipe from here, which the system closes.
 */
export class ServerProcess {
  readonly directory: string;
  readonly #user: ServerUser;
  #child: ChildProcess | undefined;
  #guard: ChildProcess | undefined;

  constructor(directory: string, user: ServerUser) {
    this.directory = directory;
    this.#user = user;
  }

  get pid(): number {
    const { pid } = this.#child ?? {};
    if (pid === undefined) throw new Error('The server is not running.');
    return pid;
  }

  /** Starts it, and waits until `isReady` answers true. */
  async start(command: string, args: readonly string[], isReady: () => Promise<boolean>) {
    const log = openSync(join(this.directory, 'server.log'), 'a');
    const child = spawn(command, args, {
      ...this.#user,
      cwd: this.directory,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    this.#guard = guardOf(child.pid ?? 0, this.directory);
    let failure: string | undefined;
    child.once('error', (error) => {
      failure = error.message;
    });
    child.once('exit', (code, signal) => {
      failure ??= `it ended with ${code ?? signal}`;
    });
    const endMs = performance.now() + START_TIMEOUT_MS;
    while (!(await isReady())) {
      if (failure === undefined && performance.now() > endMs) failure = 'it was not ready in time';
      if (failure !== undefined) throw new Error(`${command}: ${failure}.\n${this.#log()}`);
      await delay(POLL_MS);
    }
  }

  /** A signal to it and to its children, and the wait until it has gone. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    this.#child = undefined;
    this.#guard?.kill('SIGKILL');
    const hasGone = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode !== null || child.signalCode !== null) return;
    const children = signal === 'SIGKILL' ? childrenOf(child.pid) : [];
    for (const pid of [child.pid, ...children]) signalTo(pid, signal);
    await hasGone;
    while (children.some((pid) => existsSync(`/proc/${pid}/exe`))) await delay(POLL_MS);
  }

  /** Stops or goes on without a word, as on a machine that is out of breath. */
  pause(isPaused: boolean): void {
    for (const pid of [this.pid, ...childrenOf(this.pid)]) {
      signalTo(pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
    }
  }

  /** Ends it and removes its directory. */
  async remove(): Promise<void> {
    await this.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }

  #log(): string {
    return readFileSync(join(this.directory, 'server.log'), 'utf8').slice(-2_000);
  }
}

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 20;

/** Kills the server and its children, and removes its directory, once this process is gone. */
function guardOf(pid: number, directory: string): ChildProcess {
  const script = 'cat; pkill -KILL -P "$0"; kill -KILL "$0"; sleep 1; rm -rf "$1"';
  const guard = spawn('sh', ['-c', script, String(pid), directory], {
    // In a session of its own: Ctrl-C is for the tests, and this has to outlive them.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  (guard.stdin as Socket | null)?.unref();
  return guard;
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has gone already.
  }
}

function childrenOf(pid: number): number[] {
  try {
    const listed = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return listed
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(Number);
  } catch {
    return [];
  }
}

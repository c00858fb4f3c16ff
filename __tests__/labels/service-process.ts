import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEntry, serviceEntry } from './service-entry.ts';

/** A labels service, or a carrier, in a process of its own, and what it has printed. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly port: number;
  readonly stdout: string;
  /** Resolves when it has ended, of itself or by a signal. */
  readonly ended: Promise<Ended>;
  /** Sends a signal, and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts services and carriers on a directory of their own; all are gone after the test. */
export class ServiceProcesses {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'labels-service-'));
  readonly databasePath: string = join(this.directory, 'data', 'labels.db');
  /** A line for each shipment and each seal. */
  readonly carrierPath: string = join(this.directory, 'data', 'carrier.jsonl');
  readonly #children = new Set<ChildProcess>();

  /** Resolves when the service has said where it listens. */
  start(env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    return this.#start(serviceEntry(), { PORT: '0', ...env });
  }

  /** The same for a carrier. */
  startCarrier(env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    return this.#start(programEntry('labels/carrier/main.ts'), { CARRIER_PORT: '0', ...env });
  }

  /** Runs a service that is to fail before it listens. */
  run(env: NodeJS.ProcessEnv): Promise<Ended> {
    return this.#spawn(serviceEntry(), { PORT: '0', ...env }).ended;
  }

  /** Runs a carrier that is to fail before it listens. */
  runCarrier(env: NodeJS.ProcessEnv): Promise<Ended> {
    return this.#spawn(programEntry('labels/carrier/main.ts'), env).ended;
  }

  async cleanUp(): Promise<void> {
    for (const child of this.#children) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    rmSync(this.directory, { recursive: true });
  }

  async #start(entry: string, env: NodeJS.ProcessEnv): Promise<ServiceProcess> {
    const run = this.#spawn(entry, env);
    while (!run.stdout.includes('\n')) {
      const end = await Promise.race([once(run.child.stdout, 'data'), run.ended]);
      if ('code' in end) throw new Error(`It did not start: ${end.signal ?? end.stderr}`);
    }
    const { child, stdout, ended } = run;
    const port = Number(/:(\d+) \(pid/.exec(stdout)?.[1]);
    return {
      child,
      port,
      stdout,
      ended,
      end(signal) {
        child.kill(signal);
        return ended;
      },
    };
  }

  #spawn(entry: string, env: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, [entry], {
      cwd: this.directory,
      env: { PATH: process.env['PATH'], NODE_NO_WARNINGS: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    const run = { child, stdout: '', stderr: '', ended: ended() };
    child.stdout.on('data', (chunk) => {
      run.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      run.stderr += chunk;
    });
    return run;

    async function ended(): Promise<Ended> {
      const [code, signal] = await once(child, 'close');
      return { code, signal, stdout: run.stdout, stderr: run.stderr };
    }
  }
}

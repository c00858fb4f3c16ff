import type { RedisArgument } from './client.ts';
import type { Script } from './script.ts';

/** A driver, as the store uses it: arguments and replies are bytes, whatever the driver likes. */
export interface RedisLink {
  /** Whether the keys of one script must be of one slot. */
  readonly isCluster: boolean;
  run(call: ScriptCall): Promise<unknown>;
  /**
   * Runs a script, then waits until replicas have what this connection wrote. Both go over one
   * connection, or the second does not go at all: on another one there is nothing to wait for.
   */
  runAndWait(call: ScriptCall, wait: ReplicaWait): Promise<WaitedReply>;
  /** Every server that takes writes. */
  nodes(): Promise<readonly RedisNode[]>;
}

export interface ScriptCall {
  /** By its text a script also becomes known to the server; by its name it must be. */
  readonly by: 'name' | 'text';
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly RedisArgument[];
}

export interface ReplicaWait {
  readonly replicas: number;
  readonly timeoutMs: number;
}

export interface WaitedReply {
  readonly reply: unknown;
  readonly replicas: number;
}

/** One server, for what is not about one record. */
export interface RedisNode {
  /** What the driver knows it by: the same as long as it is of the cluster. */
  readonly name: string;
  info(): Promise<string>;
  /** The settings by name; rejects where the command is closed, as managed services do. */
  settings(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  scan(cursor: string, pattern: string, count: number): Promise<ScanStep>;
  nowMs(): Promise<number>;
}

export interface ScanStep {
  /** `0` at the end. */
  readonly cursor: string;
  readonly keys: readonly string[];
}

import type { RedisArgument } from './client.ts';
import type { Script } from './script.ts';

/** A script that does one verb to any number of records of one or more slots. */
export interface RecordScript {
  /** The verb, for errors. */
  readonly name: string;
  readonly script: Script;
  readonly argsPerRecord: number;
  /** Whether this reply is something that must never be taken back. */
  readonly promises: (reply: unknown) => boolean;
}

/** What a script is given for one record. */
export interface RecordCall {
  readonly args: readonly RedisArgument[];
  /** The size of what is large in it. */
  readonly bytes: number;
}

/** The two keys of a record. */
export interface RecordKeys {
  readonly state: string;
  readonly body: string;
}

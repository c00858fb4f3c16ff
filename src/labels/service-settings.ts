/** What the service is told by its environment. */
export interface ServiceSettings {
  /** 0 takes a free one. */
  readonly port: number;
  readonly databasePath: string;
}

/** Reads `PORT` and `LABELS_DB`. One that is empty counts as not set. Throws one sentence. */
export function readServiceSettings(env: NodeJS.ProcessEnv): ServiceSettings {
  const port = env['PORT'] || '3000';
  if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new Error(
      `Expected PORT to be a whole number from 0 to 65535, got ${JSON.stringify(port)}. ` +
        'Set it to the port to listen on; 0 takes a free one.',
    );
  }
  return { port: Number(port), databasePath: env['LABELS_DB'] || './data/labels.db' };
}

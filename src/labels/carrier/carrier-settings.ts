/** What the carrier is told by its environment: where it is, and what ails it. */
export interface CarrierSettings {
  /** 0 takes a free one. */
  readonly port: number;
  readonly path: string;
  /** How long each order lies about before anything is done for it. */
  readonly delayMs: number;
  /** Of every so many new shipments one is done and never answered; 0 loses no answer. */
  readonly losesEvery: number;
}

/** Reads `CARRIER_PORT`, `CARRIER_FILE`, `CARRIER_DELAY_MS`, `CARRIER_LOSES_EVERY`. */
export function readCarrierSettings(env: NodeJS.ProcessEnv): CarrierSettings {
  return {
    port: readNumber(env, 'CARRIER_PORT', 3001, 65_535),
    path: env['CARRIER_FILE'] || './data/carrier.jsonl',
    delayMs: readNumber(env, 'CARRIER_DELAY_MS', 0, 99_999),
    losesEvery: readNumber(env, 'CARRIER_LOSES_EVERY', 0, 99_999),
  };
}

function readNumber(env: NodeJS.ProcessEnv, name: string, preset: number, most: number): number {
  const text = env[name] || `${preset}`;
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= most) return Number(text);
  throw new Error(
    `Expected ${name} to be a whole number from 0 to ${most}, got ${JSON.stringify(text)}. ` +
      `Set it to one, or leave it out: then it is ${preset}.`,
  );
}

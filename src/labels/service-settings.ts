/** What the service is told by its environment. */
export interface ServiceSettings {
  /** 0 takes a free one. */
  readonly port: number;
  readonly store: StoreSettings;
  readonly mode: ModeSettings;
}

/** Where the records are, and the labels. */
export type StoreSettings =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres' | 'mysql'; readonly url: string }
  /** Redis has no place for labels: they are in the SQLite file. */
  | { readonly kind: 'redis'; readonly url: string; readonly path: string };

/** What makes a label, and what may become of a key that a crash has left. */
export type ModeSettings =
  | { readonly kind: 'blind' }
  | { readonly kind: 'transactional'; readonly leaseMs: number }
  | { readonly kind: 'keyed' | 'sealed'; readonly leaseMs: number; readonly carrierUrl: string };

/**
 * Reads `PORT`, `STORE`, `MODE`, and what these two ask for. A variable that is empty counts as not
 * set. Throws one sentence, which holds no URL: that may have a password in it.
 */
export function readServiceSettings(env: NodeJS.ProcessEnv): ServiceSettings {
  const store = readStore(env);
  return { port: readPort(env), store, mode: readMode(env, store.kind) };
}

type Environment = NodeJS.ProcessEnv;

const STORES = ['sqlite', 'postgres', 'mysql', 'redis'] as const;
const MODES = ['blind', 'transactional', 'keyed', 'sealed'] as const;
const URL_FORMS = {
  postgres: ['DATABASE_URL', /^postgres(ql)?:\/\//, 'postgres://user@127.0.0.1:5432/labels'],
  mysql: ['DATABASE_URL', /^(mysql|mariadb):\/\//, 'mysql://user@127.0.0.1:3306/labels'],
  redis: ['REDIS_URL', /^rediss?:\/\//, 'redis://127.0.0.1:6379'],
  carrier: ['CARRIER_URL', /^http:\/\//, 'http://127.0.0.1:3001'],
} as const;

function readPort(env: Environment): number {
  const port = env['PORT'] || '3000';
  if (/^[0-9]{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw new Error(
    `Expected PORT to be a whole number from 0 to 65535, got ${JSON.stringify(port)}. ` +
      'Set it to the port to listen on; 0 takes a free one.',
  );
}

function readStore(env: Environment): StoreSettings {
  const kind = readChoice(env, 'STORE', STORES, 'sqlite');
  const path = env['LABELS_DB'] || './data/labels.db';
  if (kind === 'sqlite') return { kind, path };
  const url = readUrl(env, kind, `STORE=${kind}`);
  return kind === 'redis' ? { kind, url, path } : { kind, url };
}

function readMode(env: Environment, store: StoreSettings['kind']): ModeSettings {
  const kind = readChoice(env, 'MODE', MODES, store === 'redis' ? 'blind' : 'transactional');
  if (kind === 'blind') return { kind };
  const leaseMs = readLease(env);
  if (kind !== 'transactional') {
    return { kind, leaseMs, carrierUrl: readUrl(env, 'carrier', `MODE=${kind}`) };
  }
  if (store !== 'redis') return { kind, leaseMs };
  throw new Error(
    'Expected MODE to be blind, keyed or sealed with STORE=redis, got transactional. ' +
      'Redis has no transaction that a label could be made in: set another STORE or MODE.',
  );
}

function readChoice<const Choice extends string>(
  env: Environment,
  name: string,
  choices: readonly Choice[],
  preset: Choice,
): Choice {
  const value = env[name] || preset;
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw new Error(
    `Expected ${name} to be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, ` +
      `got ${JSON.stringify(value)}. Set it to one of them, or leave it out: then it is ${preset}.`,
  );
}

function readUrl(env: Environment, of: keyof typeof URL_FORMS, why: string): string {
  const [name, form, example] = URL_FORMS[of];
  const url = env[name] || (of === 'carrier' ? example : '');
  if (form.test(url) && URL.canParse(url)) return url;
  const got = url === '' ? 'none' : 'something else';
  throw new Error(`Expected ${name} with ${why}, such as ${example}, got ${got}. Set it.`);
}

function readLease(env: Environment): number {
  const leaseMs = env['LEASE_MS'] || '60000';
  if (/^[0-9]{3,8}$/.test(leaseMs) && Number(leaseMs) >= 100) return Number(leaseMs);
  throw new Error(
    'Expected LEASE_MS to be a whole number from 100 to 99999999, got ' +
      `${JSON.stringify(leaseMs)}. Set it to how many milliseconds a request may give no sign of ` +
      'life before another one may take its key over.',
  );
}

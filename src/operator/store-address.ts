/** Where the records are, as the command line is told. */
export interface StoreAddress {
  readonly backend: 'sqlite' | 'postgres' | 'mysql' | 'redis' | 'module';
  /** A path, or a URL with whatever secret it holds. */
  readonly target: string;
  readonly table?: string;
  readonly schema?: string;
  readonly prefix?: string;
}

/** What a store is built with beside its address. */
export type StoreNames = Pick<StoreAddress, 'table' | 'schema' | 'prefix'>;

export const ADDRESS_FORMS =
  'sqlite:<file>, postgres://…, mysql://…, redis://… or module:<file that exports a store>';

/** Reads an address. Throws a sentence that holds nothing of it but its scheme. */
export function parseStoreAddress(text: string | undefined, names: StoreNames): StoreAddress {
  if (text === undefined || text === '') {
    throw new Error(`Expected --store, or IDEMPOTENCY_STORE, to be ${ADDRESS_FORMS}; got none.`);
  }
  const [, scheme = ''] = /^([a-z]+):/i.exec(text) ?? [];
  const backend = BACKENDS[scheme.toLowerCase()];
  if (backend === undefined) {
    const got = scheme === '' ? 'none of them. For a file write sqlite:<file>' : `${scheme}:`;
    throw new Error(`Expected --store to be ${ADDRESS_FORMS}; got ${got}.`);
  }
  for (const name of Object.keys(names)) {
    const takers = TAKERS[name as keyof StoreNames];
    if (!takers.includes(backend)) throw new Error(`--${name} is for ${takers.join(', ')}.`);
  }
  return { backend, target: isPath(backend) ? pathOf(text) : text, ...names };
}

/** `text` without the secrets of an address, whoever put them there. */
export function withoutSecrets(text: string, { target, backend }: StoreAddress): string {
  if (isPath(backend)) return text;
  const [, userinfo = ''] = /^[a-z]+:\/\/([^/?#]*)@/i.exec(target) ?? [];
  const given = [...target.matchAll(/[?&]\w*(?:pass|key)\w*=([^&#]*)/gi)].map(
    ([, value = '']) => value,
  );
  const passwords = [userinfo.slice(userinfo.indexOf(':') + 1), ...given];
  const secrets = [target, userinfo, ...passwords, ...passwords.map(decoded)];
  return secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

type Backend = StoreAddress['backend'];

const BACKENDS: { readonly [scheme: string]: Backend | undefined } = {
  sqlite: 'sqlite',
  postgres: 'postgres',
  postgresql: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
  redis: 'redis',
  rediss: 'redis',
  module: 'module',
};

const TAKERS: { readonly [name in keyof Required<StoreNames>]: readonly Backend[] } = {
  table: ['sqlite', 'postgres', 'mysql'],
  schema: ['postgres'],
  prefix: ['redis'],
};

function isPath(backend: Backend): boolean {
  return backend === 'sqlite' || backend === 'module';
}

/** `sqlite:file`, and `sqlite:///file` as other tools write it. */
function pathOf(text: string): string {
  const path = text.slice(text.indexOf(':') + 1);
  return path.startsWith('//') ? path.slice(2) : path;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

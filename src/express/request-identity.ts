import type { Request } from 'express';
import type { AttemptIdentity } from '../core/attempt-context.ts';
import { type ErrorCode, IdempotencyError } from '../core/errors.ts';
import { CHOSEN_MAX_CHARACTERS, parseIdempotencyKey } from '../core/idempotency-key.ts';
import { isRecordName, recordKey } from '../core/record-key.ts';
import { prepareForProperties } from './node-request.ts';
import type { Settings } from './options.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import { warnOfSharedKeys } from './shared-keys-warning.ts';

/** What a request says of itself, before the store is asked. */
export type Asked =
  | { readonly kind: 'protected'; readonly identity: AttemptIdentity }
  /** It has no key, and needs none. */
  | { readonly kind: 'unprotected' }
  | { readonly kind: 'key missing' }
  | { readonly kind: 'key invalid' };

/**
 * Reads key, tenant, operation and fingerprint, in this order, and touches nothing. Most requests
 * wait for nothing here, and then it answers at once: a promise that nobody needs costs 1 us.
 *
 * @throws {IdempotencyError} `nested`, `key_unusable`, `tenant_unusable`, `operation_unusable`,
 *   `fingerprint_unusable`, `body_not_read`, `body_not_usable`; and what the options throw, but
 *   that what `tenant` throws becomes the cause of `tenant_unusable`, so that it ends as a 500.
 */
export function identify(req: Request, settings: Settings): Asked | Promise<Asked> {
  const { key } = settings;
  if (typeof key === 'string') return withKey(req, settings, headerOf(req, key));
  return Promise.resolve(key(req)).then((value) => withKey(req, settings, value));
}

function withKey(req: Request, settings: Settings, value: unknown): Asked | Promise<Asked> {
  if (value === undefined) {
    return settings.required ? { kind: 'key missing' } : { kind: 'unprotected' };
  }
  if (value === SENT_TWICE) return { kind: 'key invalid' };
  if (typeof value !== 'string') {
    throw unusable('key_unusable', 'key', 'a string or undefined', value);
  }
  const isChosen = typeof settings.key === 'function';
  const key = parseIdempotencyKey(value, isChosen ? CHOSEN_MAX_CHARACTERS : undefined);
  if (key === undefined) return { kind: 'key invalid' };
  markOnce(req);
  if (settings.tenant !== undefined) {
    return tenantOf(req, settings.tenant).then((tenant) => withTenant(req, settings, key, tenant));
  }
  warnOfSharedKeys(req, settings.warn);
  return withTenant(req, settings, key, undefined);
}

function withTenant(
  req: Request,
  settings: Settings,
  key: string,
  tenant: string | undefined,
): Asked | Promise<Asked> {
  const operation = operationOf(req, settings.operation);
  const scope = { key, tenant };
  if (typeof operation !== 'object') return withOperation(req, settings, { ...scope, operation });
  return operation.then((name) => withOperation(req, settings, { ...scope, operation: name }));
}

type Scope = Pick<AttemptIdentity, 'key' | 'tenant' | 'operation'>;

function withOperation(req: Request, settings: Settings, scope: Scope): Asked | Promise<Asked> {
  const fingerprint = fingerprintOf(req, settings.fingerprint);
  if (typeof fingerprint === 'string') return asked(scope, fingerprint);
  return fingerprint.then((settled) => asked(scope, settled));
}

function asked({ key, tenant, operation }: Scope, fingerprint: string): Asked {
  const identity = {
    key,
    recordKey: recordKey(tenant, operation, key),
    tenant,
    operation,
    fingerprint,
  };
  return { kind: 'protected', identity };
}

const SENT_TWICE: unique symbol = Symbol('sent twice');
const MARK = Symbol.for('express-idempotent.protected');

/** Node joins repeated lines, or keeps only one of them, so they are counted where they came. */
function headerOf(req: Request, name: string): string | typeof SENT_TWICE | undefined {
  const value = req.headers[name];
  let lines = 0;
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    const each = req.rawHeaders[at] as string;
    if (each.length === name.length && each.toLowerCase() === name) lines += 1;
  }
  return lines > 1 || Array.isArray(value) ? SENT_TWICE : value;
}

/** Two middlewares on one request would be two claims for one action. */
function markOnce(req: Request & { [MARK]?: true }): void {
  if (req[MARK]) {
    throw new IdempotencyError(
      'nested',
      'Expected one idempotency middleware on the way of a request, got a second one. ' +
        'Mount it once: on the application, on the router or on the route.',
    );
  }
  prepareForProperties(req);
  req[MARK] = true;
}

async function tenantOf(req: Request, tenantFor: NonNullable<Settings['tenant']>): Promise<string> {
  let tenant: unknown;
  try {
    tenant = await tenantFor(req);
  } catch (cause) {
    throw new IdempotencyError(
      'tenant_unusable',
      'Expected the `tenant` option to answer a name, but it threw; see the cause.',
      { cause },
    );
  }
  if (isRecordName(tenant)) return tenant;
  throw unusable('tenant_unusable', 'tenant', 'a name', tenant);
}

function operationOf(
  req: Request,
  operation: Settings['operation'],
): string | undefined | Promise<string> {
  if (operation === false) return undefined;
  if (operation === undefined) return `${req.method} ${req.baseUrl}${req.path}`;
  return typeof operation === 'string' ? operation : operationBy(req, operation);
}

async function operationBy(
  req: Request,
  operationFor: Exclude<Settings['operation'], string | false | undefined>,
): Promise<string> {
  const name: unknown = await operationFor(req);
  if (isRecordName(name)) return name;
  throw unusable('operation_unusable', 'operation', 'a name', name);
}

function fingerprintOf(
  req: Request,
  fingerprintFor: Settings['fingerprint'],
): string | Promise<string> {
  return fingerprintFor ? fingerprintBy(req, fingerprintFor) : requestFingerprint(req);
}

async function fingerprintBy(
  req: Request,
  fingerprintFor: NonNullable<Settings['fingerprint']>,
): Promise<string> {
  const fingerprint: unknown = await fingerprintFor(req);
  if (isRecordName(fingerprint)) return fingerprint;
  throw unusable('fingerprint_unusable', 'fingerprint', 'a string that is not empty', fingerprint);
}

function unusable(
  code: ErrorCode,
  option: string,
  expected: string,
  got: unknown,
): IdempotencyError {
  const kind = got === '' ? 'an empty string' : got === null ? 'null' : typeof got;
  return new IdempotencyError(
    code,
    `Expected the \`${option}\` option to answer ${expected}, got ${kind}. See docs/options.md.`,
  );
}

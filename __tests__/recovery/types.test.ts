import { join } from 'node:path';
import ts from 'typescript';
import { ROOT, read } from '../tidy/source-tree.ts';

const PREAMBLE = `
import type { Request, Response } from 'express';
import * as all from '../../src/index.ts';
const { blind, done, drain, idempotent, keyed, neverStarted, sealed, transactional, unknown } = all;
declare const store: all.IdempotencyStore;
declare const req: Request;
declare const res: Response;
interface Client { query(text: string): Promise<unknown> }
declare const adapter: all.TransactionAdapter<Client>;
const words = { status: 201 };
const take = (_recovery: all.Recovery): void => {};
const use = (_value: unknown): void => {};
`;

/** Both programs are made of the same files, but for one. */
const PARSED = new Map<string, ts.SourceFile>();

/** The lines, each by itself, that the compiler refuses as a strict user's would. */
function setup(lines: readonly string[], preamble = ''): string[] {
  const file = join(ROOT, '__tests__/recovery/not-there.ts');
  const before = PREAMBLE + preamble;
  const text = before + lines.join('\n');
  const { options } = ts.convertCompilerOptionsFromJson(
    JSON.parse(read('tsconfig.json')).compilerOptions,
    ROOT,
  );
  const rest = { noEmit: true, declaration: false, declarationMap: false, rootDir: ROOT };
  const whole = { ...options, ...rest, isolatedDeclarations: false };
  const host = ts.createCompilerHost(whole);
  const { getSourceFile, fileExists } = host;
  const parsed = (path: string, target: ts.ScriptTarget) => {
    const known = PARSED.get(path) ?? getSourceFile(path, target);
    if (known !== undefined) PARSED.set(path, known);
    return known;
  };
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, target) =>
    path === file ? ts.createSourceFile(path, text, target) : parsed(path, target as never);
  const program = ts.createProgram([file], whole, host);
  const first = before.split('\n').length - 1;
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const { line } = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0) ?? {};
    const at = diagnostic.file?.fileName === file ? (line ?? 0) - first : -1;
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ');
    return lines[at] ?? `${diagnostic.file?.fileName}:${line}: ${message}`;
  });
}

const MEANS_SOMETHING = [
  'take(blind());',
  "take(blind({ onAbandoned: 'unknown', response: (body) => ({ status: 409, body }) }));",
  "take(blind({ onAbandoned: 'unknown', response: words, leaseMs: 1, maxRunMs: 2 }));",
  'take(keyed({ rerunWithinMs: 1 }));',
  'take(sealed({ recover: (context) => (context.attempt > 1 ? done(words) : neverStarted()) }));',
  'take(sealed({ recover: async () => unknown(), recoverTimeoutMs: 1 }));',
  'take(transactional());',
  'take(transactional(adapter));',
  'take(transactional(adapter, { leaseMs: 60_000, limits: { lockTimeoutMs: 1 } }));',
  'use(idempotent(store, { recovery: keyed({ rerunWithinMs: 1 }) }));',
  'const mode = transactional(adapter); use(mode.tx(req).query("SELECT 1"));',
  'use(req.idempotency?.downstreamKey("carrier", "uuid").length);',
  'const word: Promise<all.Settled> | undefined = req.idempotency?.settle(done(words)); use(word);',
  'req.idempotency?.commitSync(() => ({ status: 201, body: {} }));',
  'const error: Error = neverStarted(new Error("down")); use(error);',
  'drain(store, { timeoutMs: 1 }).then(({ isDrained }) => use(isDrained && res));',
];

const MEANS_NOTHING = [
  'take(blind({ leaseMs: 1 }));',
  "take(blind({ onAbandoned: 'pending', response: words }));",
  'take(keyed());',
  'take(keyed({}));',
  'take(keyed({ rerunWithinMs: "1 hour" }));',
  'take(keyed({ rerunWithinMs: 1, recover: () => neverStarted() }));',
  'take(sealed());',
  'take(sealed({}));',
  'take(sealed({ recover: () => true }));',
  'take(sealed({ recover: () => neverStarted(new Error()) }));',
  'take(sealed({ recover: () => unknown(), rerunWithinMs: 1 }));',
  'take(sealed({ recover: () => unknown(), onAbandoned: "unknown" }));',
  'take(blind({ rerunWithinMs: 1 }));',
  'take(blind({ onAbandoned: "release" }));',
  'take(blind({ onAbandoned: "rerun" }));',
  'take(transactional({ query: () => {} }));',
  'take(transactional(adapter, { maxRunMs: 1 }));',
  'take(transactional(adapter, { rerunWithinMs: 1 }));',
  'take(transactional(adapter, { limits: { queryTimeoutMs: 1 } }));',
  'take({ mode: "keyed" });',
  'take({ mode: "transactional", recover: () => unknown() });',
  'use(idempotent(store, { recovery: "keyed" }));',
  'use(idempotent(store, { recovery: keyed }));',
  'use(idempotent(store, { rerunWithinMs: 1 }));',
  'use(transactional(adapter).tx(req).rollback());',
  'req.idempotency?.settle(neverStarted());',
  'req.idempotency?.settle(unknown());',
  'req.idempotency?.settle(words);',
  'req.idempotency?.commitSync(async () => ({ status: 201 }));',
  'req.idempotency?.downstreamKey();',
  'req.idempotency?.downstreamKey("carrier", "hex");',
  'use(req.idempotency?.tx.query("SELECT 1"));',
  'drain();',
  'drain(store, { timeoutMS: 1 });',
];

test('combinations that mean something compile, and those that mean nothing do not', () => {
  const refused = setup([...MEANS_SOMETHING, ...MEANS_NOTHING]);
  expect([...new Set(refused)].sort()).toEqual([...MEANS_NOTHING].sort());
}, 60_000);

test('a type that is registered once is the type of the transaction in every handler', () => {
  const registered =
    'declare global { namespace ExpressIdempotent { interface Registered { tx: Client } } }\n';
  const lines = [
    'const rows: Promise<unknown> | undefined = req.idempotency?.tx.query("SELECT 1"); use(rows);',
    'req.idempotency?.commitSync((tx) => { use(tx.query("SELECT 1")); return words; });',
    'use(req.idempotency?.tx.rollback());',
  ];
  expect(setup(lines, registered)).toEqual(lines.slice(2));
}, 60_000);

import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript';
import { importsOf, place, ROOT, sourcesUnder } from './source-tree.ts';

/**
 * What each part of the house may import: folders and files of `src`, and packages. The first
 * pattern that fits a file counts. Its own folder is always allowed.
 */
const ARROWS: readonly (readonly [files: RegExp, mayImport: readonly RegExp[]])[] = [
  [/^src\/index\.ts$/, [/^src\/(core|express)\//, /^src\/stores\/memory\.ts$/]],
  [/^src\/core\//, [/^node:(crypto|diagnostics_channel)$/]],
  [/^src\/express\//, [/^src\/core\//, /^node:/, /^express$/]],
  [/^src\/stores\/[^/]+\.ts$/, [/^src\/core\//, /^node:/]],
  [
    /^src\/stores\/sqlite\//,
    [/^src\/core\//, /^src\/stores\/[^/]+\.ts$/, /^node:/, /^better-sqlite3$/],
  ],
  [/^src\/stores\/transactions\//, [/^src\/core\//, /^src\/stores\/[^/]+\.ts$/, /^node:/]],
  [
    /^src\/stores\/postgres\//,
    [/^src\/core\//, /^src\/stores\/([^/]+|postgres\/.+|transactions\/.+)\.ts$/, /^node:/],
  ],
  [
    /^src\/stores\/mysql\//,
    [/^src\/core\//, /^src\/stores\/([^/]+|mysql\/.+|transactions\/.+)\.ts$/, /^node:/],
  ],
  [/^src\/stores\/redis\//, [/^src\/core\//, /^src\/stores\/[^/]+\.ts$/, /^node:/]],
  [/^src\/testing\//, [/^src\/core\//, /^node:assert(\/strict)?$/]],
  [
    /^src\/labels\//,
    [/^src\/index\.ts$/, /^src\/stores\/[^/]+\/index\.ts$/, /^node:/, /^express$/],
  ],
  [/^src\/client\//, []],
  [
    /^src\/operator\/opened-store\.ts$/,
    [/^src\/core\//, /^src\/stores\/[^/]+\/index\.ts$/, /^node:/],
  ],
  [/^src\/operator\//, [/^src\/core\//, /^node:/]],
];

/** What `specifier` names: a path from the root, or the name of a package. */
function target(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
}

/** Who opens stores, as their users do. */
const OPENERS = /^src\/(?:labels\/|operator\/opened-store\.ts$)/;

function setup() {
  const files = sourcesUnder('src');
  const edges = files.flatMap((file) =>
    importsOf(file).map(({ specifier, node }) => ({ file, node, to: target(file, specifier) })),
  );
  return { files, edges };
}

test('every import in src follows the arrows of the house', () => {
  const { edges } = setup();
  const wrong = edges.filter(({ file, to }) => !mayImport(file, to));
  expect(wrong.map(({ node, to }) => `${place(node)} imports ${to}`)).toEqual([]);
  expect(edges.length).toBeGreaterThan(20);
});

function mayImport(file: string, to: string): boolean {
  const arrow = ARROWS.find(([files]) => files.test(file));
  if (arrow === undefined) return false;
  const [, allowed] = arrow;
  return dirname(to) === dirname(file) || allowed.some((pattern) => pattern.test(to));
}

test('every file of src has a place in the house', () => {
  const { files } = setup();
  const homeless = files.filter((file) => !ARROWS.some(([pattern]) => pattern.test(file)));
  expect(homeless).toEqual([]);
});

test('nobody imports a store but the entry of its own sub-path', () => {
  const { edges } = setup();
  const intruders = edges.filter(({ file, to }) => {
    if (to === 'src/stores/memory.ts') return file !== 'src/index.ts';
    const store = /^src\/stores\/[^/]+\//.exec(to)?.[0];
    if (store === undefined || file.startsWith(store)) return false;
    // What the transaction adapters of several dialects share is no store.
    if (store === 'src/stores/transactions/') return !file.startsWith('src/stores/');
    return !(OPENERS.test(file) && to === `${store}index.ts`);
  });
  expect(intruders.map(({ node, to }) => `${place(node)} imports ${to}`)).toEqual([]);
});

test('the library loads no package when it is imported: peers are imported as types', () => {
  const { edges } = setup();
  const loads = edges.filter(({ file, node, to }) => {
    const isPackage = !to.startsWith('src/') && !to.startsWith('node:');
    return isPackage && !file.startsWith('src/labels/') && loadsAtOnce(node);
  });
  expect(loads.map(({ node, to }) => `${place(node)} imports ${to}`)).toEqual([]);
});

function loadsAtOnce(node: ts.Node): boolean {
  return ts.isImportDeclaration(node)
    ? node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword
    : ts.isExportDeclaration(node) && !node.isTypeOnly;
}

test('an import names a file that exists, with its ending', () => {
  const { edges } = setup();
  const relative = edges.filter(({ to }) => to.startsWith('src/'));
  const broken = relative.filter(({ to }) => !existsSync(join(ROOT, to)) || !to.endsWith('.ts'));
  expect(broken.map(({ node, to }) => `${place(node)} imports ${to}`)).toEqual([]);
});

test('no file of src imports itself over others', () => {
  const { files, edges } = setup();
  const next = new Map(
    files.map((file) => [file, edges.filter((edge) => edge.file === file).map(({ to }) => to)]),
  );
  expect(files.map((file) => cycleFrom(file, next)).filter((cycle) => cycle !== undefined)).toEqual(
    [],
  );
});

/** A way from `start` back to it, as text. */
function cycleFrom(start: string, next: ReadonlyMap<string, string[]>): string | undefined {
  const seen = new Set<string>();
  const ways = [[start]];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    for (const file of next.get(way.at(-1) ?? '') ?? []) {
      if (file === start) return [...way, start].join(' -> ');
      if (!seen.has(file)) ways.push([...way, file]);
      seen.add(file);
    }
  }
  return undefined;
}

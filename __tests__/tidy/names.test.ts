import { basename } from 'node:path';
import ts from 'typescript';
import { filesUnder, nodesOf, parse, place, read, sourcesUnder } from './source-tree.ts';

/** A drawer that takes everything says nothing: a file is named after the one thing it holds. */
const DRAWERS = /^(utils?|helpers?|common|shared|misc|types|constants|lib)\.[a-z]+$/;

/** What only makes sense on one machine, or to the people who were there. */
const FOREIGN: readonly (readonly [why: string, pattern: RegExp])[] = [
  ['a path of one machine', /(?<![\w.:/-])\/(?:home|root|Users|work|mnt)\/[\w.-]+/],
  ['the host of a package registry', /\bregistry\.[a-z]+\.(?:org|com|dev)\b/],
  ['work that has no number', /\b(?:TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))/],
  ['a letter for an issue', /\bissues? [A-Z]\b/],
];

const TEXT = /\.(?:ts|mts|js|mjs|json|md|yml|sh|sql|txt)$|\/run$/;

function setup() {
  const tree = filesUnder('.');
  // This file holds the patterns themselves.
  const texts = tree.filter((path) => TEXT.test(path) && path !== '__tests__/tidy/names.test.ts');
  return { tree, texts };
}

test('no file is a drawer for everything', () => {
  const { tree } = setup();
  expect(tree.filter((path) => DRAWERS.test(basename(path)))).toEqual([]);
});

test('files and folders are named in small letters and dashes', () => {
  const { tree } = setup();
  const ours = tree.filter((path) => /^(src|scripts|bench|docs|__tests__)\//.test(path));
  const name = /^(?:__tests__\/)?(?:[a-z0-9.-]+\/|__snapshots__\/)*[a-z0-9.-]+$/;
  expect(ours.filter((path) => !name.test(path))).toEqual([]);
});

test.each(FOREIGN)('no file holds %s', (_why, pattern) => {
  const { texts } = setup();
  const found = texts.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
  expect(found).toEqual([]);
});

test('a document that a file names is there', () => {
  const { tree, texts } = setup();
  const names = new Set(tree.map((path) => basename(path)));
  const missing = texts
    .filter((path) => !path.endsWith('package-lock.json'))
    .flatMap((path) =>
      [...read(path).matchAll(/(?<![\w*.}-])([\w-]+\.md)\b/g)]
        .map(([, name]) => name ?? '')
        .filter((name) => !names.has(name))
        .map((name) => `${path} names ${name}`),
    );
  expect(missing).toEqual([]);
});

test('the sources run as they are, and in a realm of their own', () => {
  const sources = sourcesUnder('src').map(parse);
  const wrong = sources.flatMap((file) => [...nodesOf(file)].filter(isUnportable));
  expect(wrong.map(place)).toEqual([]);
  expect(sources.length).toBeGreaterThan(20);
});

/**
 * Enums and parameter properties do not strip; `import.meta` and top-level await do not build to
 * CommonJS; `instanceof` on a class that is not ours fails for values of another realm or of
 * another copy of the package.
 */
function isUnportable(node: ts.Node): boolean {
  if (ts.isEnumDeclaration(node) || ts.isMetaProperty(node)) return true;
  if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) return true;
  if (ts.isAwaitExpression(node)) return !isInFunction(node);
  return isInstanceOf(node) && !isOurClass(node.right);
}

function isInFunction(node: ts.Node): boolean {
  return ts.findAncestor(node, ts.isFunctionLike) !== undefined;
}

function isInstanceOf(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;
}

/** Our errors carry a brand, and say so by `Symbol.hasInstance`. */
function isOurClass(node: ts.Expression): boolean {
  return /^(IdempotencyError|FencedError|RecordTooLargeError)$/.test(node.getText());
}

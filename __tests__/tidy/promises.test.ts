import { dirname, join, posix } from 'node:path';
import ts from 'typescript';
import { filesUnder, nodesOf, parse, place } from './source-tree.ts';

const ASSERTS = /^(expect|assert|fc\.assert)\b/;
const PUT_OFF =
  /^(?:[xf](?:test|it|describe)|(?:test|it|describe)\.(?:\w+\.)*(?:only|skip|todo|failing))\b/;

interface Promised {
  readonly call: ts.CallExpression;
  readonly name: string;
  readonly body: ts.Node;
}

function setup() {
  const files = filesUnder('__tests__').filter((path) => path.endsWith('.test.ts'));
  return { files, tests: files.flatMap((path) => testsOf(parse(path))) };
}

/** The calls of `test` and `it`, also `test.each(…)(…)`, with their name and function. */
function testsOf(file: ts.SourceFile): Promised[] {
  return [...nodesOf(file)].flatMap((call) => {
    if (!ts.isCallExpression(call) || !isTest(call.expression)) return [];
    const [name, body] = call.arguments;
    const isTable = name === undefined || body === undefined;
    return isTable ? [] : [{ call, name: name.getText(), body }];
  });
}

function isTest(node: ts.Expression): boolean {
  return /^(test|it)(\.\w+)*\b/.test(node.getText());
}

test('no test is skipped, left for later or run alone', () => {
  const { files } = setup();
  const calls = files.flatMap((path) => [...nodesOf(parse(path))].filter(ts.isCallExpression));
  const put = calls.filter(({ expression }) => PUT_OFF.test(expression.getText()));
  expect(put.map(place)).toEqual([]);
});

test('every test asserts something, itself or in a function that it calls', () => {
  const { tests } = setup();
  expect(tests.filter(({ body }) => !asserts(body)).map(({ call }) => place(call))).toEqual([]);
  expect(tests.length).toBeGreaterThan(20);
});

/** Follows calls of functions of the same file; of another file it is enough that it asserts. */
function asserts(body: ts.Node, seen: ReadonlySet<ts.Node> = new Set()): boolean {
  if (seen.has(body)) return false;
  const next = new Set([...seen, body]);
  if (ts.isIdentifier(body)) return isAssertingName(body, next);
  return [...nodesOf(body)].some(
    (node) =>
      ts.isCallExpression(node) &&
      (ASSERTS.test(node.expression.getText()) || asserts(rootName(node.expression), next)),
  );
}

function rootName(node: ts.Expression): ts.Node {
  return ts.isPropertyAccessExpression(node) ? node.name : node;
}

function isAssertingName(name: ts.Identifier, seen: ReadonlySet<ts.Node>): boolean {
  const file = name.getSourceFile();
  const named = namesOf(file).get(name.text);
  if (named === undefined) return false;
  return ts.isImportSpecifier(named)
    ? importsAssertions(file.fileName, named)
    : asserts(named, seen);
}

const NAMES = new Map<ts.SourceFile, ReadonlyMap<string, ts.Node>>();

/** What a file declares or imports, by name; of two with one name, the first. */
function namesOf(file: ts.SourceFile): ReadonlyMap<string, ts.Node> {
  const known = NAMES.get(file);
  if (known !== undefined) return known;
  const named = [...nodesOf(file)]
    .filter(isNamed)
    .map((node) => [node.name.getText(), node] as const);
  const names = new Map(named.reverse());
  NAMES.set(file, names);
  return names;
}

function isNamed(node: ts.Node): node is ts.Node & { readonly name: ts.Node } {
  const isDeclaration =
    ts.isFunctionDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isPropertyAssignment(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isImportSpecifier(node);
  return isDeclaration && node.name !== undefined;
}

function importsAssertions(path: string, imported: ts.Node): boolean {
  const from = ts.findAncestor(imported, ts.isImportDeclaration)?.moduleSpecifier;
  if (from === undefined || !ts.isStringLiteral(from) || !from.text.startsWith('.')) return false;
  const other = parse(posix.join(dirname(path), from.text));
  return [...nodesOf(other)].some(
    (node) => ts.isCallExpression(node) && ASSERTS.test(node.expression.getText()),
  );
}

test('the name of a test is a promise: a sentence in the present tense, said once a file', () => {
  const { tests } = setup();
  const weak = tests.filter(({ name }) => /\bshould\b|^['"`](?:tests?\b|works['"`])/i.test(name));
  expect(weak.map(({ call, name }) => `${place(call)}: ${name}`)).toEqual([]);
  const named = tests.map(({ call, name }) =>
    join(call.getSourceFile().fileName, scope(call), name),
  );
  expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
});

/** The names of the `describe`s around a test. */
function scope(node: ts.Node): string {
  const around = ts.findAncestor(
    node.parent,
    (outer) => ts.isCallExpression(outer) && /^describe\b/.test(outer.expression.getText()),
  );
  if (around === undefined || !ts.isCallExpression(around)) return '';
  return `${scope(around)}${around.arguments[0]?.getText()} `;
}

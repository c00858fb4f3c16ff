import ts from 'typescript';
import { filesUnder, lineCount, nodesOf, parse, place, read, sourcesUnder } from './source-tree.ts';

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 70;
const MAX_COLUMNS = 100;

function setup() {
  const files = sourcesUnder('src', '__tests__', 'bench');
  const scripts = ['scripts', 'bench', '__tests__'].flatMap(filesUnder);
  return { files, all: [...files, ...scripts.filter((path) => /\.m?js$/.test(path))] };
}

test(`no file has more than ${MAX_FILE_LINES} lines`, () => {
  const { all } = setup();
  const long = all.filter((path) => linesOf(path).length > MAX_FILE_LINES);
  expect(long.map((path) => `${path}: ${linesOf(path).length}`)).toEqual([]);
});

test(`no function has more than ${MAX_FUNCTION_LINES} lines`, () => {
  const { files } = setup();
  const functions = files.flatMap((path) => [...nodesOf(parse(path))].filter(isFunction));
  const long = functions.filter((node) => lineCount(node) > MAX_FUNCTION_LINES);
  expect(long.map((node) => `${place(node)}: ${lineCount(node)}`)).toEqual([]);
});

test(`no line is wider than ${MAX_COLUMNS} columns`, () => {
  const { all } = setup();
  const wide = all.flatMap((path) =>
    linesOf(path).flatMap((line, index) =>
      [...line].length > MAX_COLUMNS && !TEST_NAME.test(line)
        ? [`${path}:${index + 1}: ${[...line].length}`]
        : [],
    ),
  );
  expect(wide).toEqual([]);
});

/** The name of a test is one sentence, which is not broken. */
const TEST_NAME = /^\s*(test|describe|\]\))[(.]?/;

function linesOf(path: string): string[] {
  return read(path).replace(/\n$/, '').split('\n');
}

/** The callback of a `describe` is a list of promises, not something that is read as one. */
function isFunction(node: ts.Node): boolean {
  if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return false;
  return !(ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.getText()));
}

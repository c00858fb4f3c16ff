import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

export const ROOT: string = resolve(__dirname, '../..');

/** What is made, installed or kept by a run, and not written by hand. */
const NOT_OURS = new Set(['.git', '.temp', 'coverage', 'data', 'dist', 'node_modules']);

/** The paths of all files under `folder` that belong to the repository, from its root, sorted. */
export function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !NOT_OURS.has(entry.name))
    .flatMap((entry) => {
      const path = relative(ROOT, join(ROOT, folder, entry.name));
      return entry.isDirectory() ? filesUnder(path) : [path];
    })
    .sort();
}

export function sourcesUnder(...folders: string[]): string[] {
  return folders.flatMap(filesUnder).filter((path) => /\.m?ts$/.test(path));
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function parse(path: string): ts.SourceFile {
  const parsed =
    PARSED.get(path) ?? ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
  PARSED.set(path, parsed);
  return parsed;
}

/** Every rule looks at the same files. */
const PARSED = new Map<string, ts.SourceFile>();

/** `node` and everything under it, outer nodes first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of childrenOf(node)) yield* nodesOf(child);
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  return children;
}

/** `path:line` of a node, as editors understand it. */
export function place(node: ts.Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

/** How many lines a node takes, from its first token to its last. */
export function lineCount(node: ts.Node): number {
  const file = node.getSourceFile();
  const first = file.getLineAndCharacterOfPosition(node.getStart()).line;
  return file.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
}

/** What a file imports, re-exports or requires: the specifiers as written, with their nodes. */
export function importsOf(path: string): { readonly specifier: string; readonly node: ts.Node }[] {
  return [...nodesOf(parse(path))].flatMap((node) => {
    const specifier = specifierOf(node);
    return specifier === undefined ? [] : [{ specifier, node }];
  });
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return textOf(node.moduleSpecifier);
  }
  if (ts.isImportTypeNode(node)) {
    return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const loads =
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    /^(require|getBuiltinModule|process\.getBuiltinModule)$/.test(node.expression.getText());
  return loads ? textOf(node.arguments[0]) : undefined;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

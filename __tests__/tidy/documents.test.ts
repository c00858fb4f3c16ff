import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ERROR_CODES } from '../../src/core/errors.ts';
import { STRICT } from '../../src/core/profiles.ts';
import { nodesOf, parse, ROOT, read, sourcesUnder } from './source-tree.ts';

/** A missing document has no headings: then every name that it owes is reported. */
function setup() {
  const text = (path: string) => (existsSync(join(ROOT, path)) ? read(path) : '');
  return { errors: text('docs/errors.md'), options: text('docs/options.md') };
}

/** The names in headings such as "## `store_full`". */
function namesInHeadings(text: string): string[] {
  return [...text.matchAll(/^#{2,4} `(\w+)`$/gm)].map(([, name]) => name ?? '').sort();
}

test('docs/errors.md has one section for each error code and each answer, and no other', () => {
  const { errors } = setup();
  const answers = Object.values(STRICT).map(({ body }) => String(JSON.parse(body).error));
  const owed = [...new Set([...Object.keys(ERROR_CODES), ...answers])].sort();
  expect(namesInHeadings(errors)).toEqual(owed);
});

test('docs/options.md has one section for each option, and no other', () => {
  const { options } = setup();
  const files = ['src/express/options.ts', ...sourcesUnder('src/stores')];
  const owed = [...new Set(files.flatMap((path) => optionsOf(parse(path))))].sort();
  expect(namesInHeadings(options)).toEqual(owed);
});

/** The members of the exported interfaces that are called options. */
function optionsOf(file: ts.SourceFile): string[] {
  return [...nodesOf(file)]
    .filter(ts.isInterfaceDeclaration)
    .filter((node) => node.name.text.endsWith('Options') && isExported(node))
    .flatMap((node) => node.members.map((member) => member.name?.getText() ?? ''));
}

function isExported(node: ts.InterfaceDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

test('every public name of src says in a comment what it promises', () => {
  const bare = sourcesUnder('src').flatMap((path) =>
    parse(path)
      .statements.filter((node) => isPublicDeclaration(node) && !hasComment(node))
      .map((node) => `${path}: ${node.getText().split('\n')[0]}`),
  );
  expect(bare).toEqual([]);
});

function isPublicDeclaration(node: ts.Statement): boolean {
  const isClassOrInterface = ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node);
  return (
    isClassOrInterface &&
    (node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false)
  );
}

function hasComment(node: ts.Statement): boolean {
  return ts.getJSDocCommentsAndTags(node).length > 0;
}

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ERROR_CODES } from '../../src/core/errors.ts';
import { STRICT } from '../../src/core/profiles.ts';
import { filesUnder, nodesOf, parse, ROOT, read, sourcesUnder } from './source-tree.ts';

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

test('the documents that a user and a newcomer need are there', () => {
  const owed = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'docs/guarantees.md',
    'docs/errors.md',
    'docs/options.md',
    'docs/writing-a-store.md',
  ];
  expect(owed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('a link in a document leads to a file, and to a heading of it', () => {
  const documents = filesUnder('.').filter((path) => path.endsWith('.md'));
  const broken = documents.flatMap((path) =>
    linksOf(path)
      .filter((link) => !leadsSomewhere(path, link))
      .map((link) => `${path} links to ${link}`),
  );
  expect(broken).toEqual([]);
});

/** Links within the repository, outside fences: `](docs/errors.md#store_full)`. */
function linksOf(path: string): string[] {
  const prose = read(path).replace(/^```[\s\S]*?^```/gm, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '');
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(path: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? path : join(dirname(path), file);
  if (!existsSync(join(ROOT, target))) return false;
  return heading === undefined || anchorsOf(target).includes(heading);
}

/** Headings as hosts of repositories make anchors of them. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '..', '..');
const maxFileLines = 450;
const maxFunctionLines = 100;
const generatedFolders = ['console/src/api/generated/', 'client/src/generated/'];

const files = ['server/src', 'client/src', 'console/src', 'bench/src', 'scripts']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(root, folder, name)),
  )
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }));

test(`no source file is longer than ${maxFileLines} lines, but generated ones`, () => {
  expect(files.length).toBeGreaterThan(400);
  expect(
    files
      .filter(
        ({ path, text }) =>
          !generatedFolders.some((folder) => path.startsWith(folder)) && text.split('\n').length - 1 > maxFileLines,
      )
      .map(({ path }) => path),
  ).toEqual([]);
});

test(`no function is longer than ${maxFunctionLines} lines`, () => {
  const tooLong = files.flatMap(({ path, text }) => {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && lineOf(node.end) - lineOf(node.getStart()) >= maxFunctionLines) {
        const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
        found.push(`${path} ${named?.getText() ?? `line ${lineOf(node.getStart()) + 1}`}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
  expect(tooLong).toEqual([]);
});

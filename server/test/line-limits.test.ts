import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '..', '..');
const maxFileLines = 450;
const maxFunctionLines = 70;
/** A component of React is mostly markup, which reads from top to bottom. */
const maxComponentLines = 100;
/** Functions up to 100 lines that are easier to read whole. */
const longFunctions: Record<string, string> = {
  'server/src/app/installations/installations.ts makeInstallations': 'a factory of short functions that share state',
  'server/src/app/interactions.ts makeInteractionReports': 'a factory of short functions that share state',
  'server/src/engine/fan-out/fair-slots.ts makeFairSlots': 'a factory of short functions that share state',
  'server/src/engine/segment-fill/segment-file-parser.ts makeSegmentFileParser':
    'a factory of short functions that share the state of a line, for fifteen million lines',
  'server/src/http/app-access.ts appAccessRoutes': 'a list of routes',
  'server/src/http/console/segment-filters.ts segmentFilterRoutes': 'a list of routes',
  'server/src/providers/http2/http2-session.ts attach':
    'a factory of short functions that share the state of a connection',
  'server/src/providers/webpush/encryption-pool.ts makeWebPushEncryption':
    'a factory of short functions that share threads',
  'server/src/start/console-routes.ts makeConsoleRoutes': 'a list of routes',
  'server/src/start/routes.ts makeRoutes': 'a list of routes',
};
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

test(`no function is longer than ${maxFunctionLines} lines, except components and those that are listed with the reason`, () => {
  const listed = new Set<string>();
  const tooLong = files.flatMap(({ path, text }) => {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      const lines = ts.isFunctionLike(node) ? lineOf(node.end) - lineOf(node.getStart()) + 1 : 0;
      if (ts.isFunctionLike(node) && lines > maxFunctionLines) {
        const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
        const name = `${path} ${named?.getText() ?? `line ${lineOf(node.getStart()) + 1}`}`;
        const isComponent = path.endsWith('.tsx') && /^[A-Z]/.test(named?.getText() ?? '');
        if (name in longFunctions) listed.add(name);
        if (lines > maxComponentLines || !(isComponent || name in longFunctions)) found.push(name);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
  expect(tooLong).toEqual([]);
  expect(Object.keys(longFunctions).filter((name) => !listed.has(name))).toEqual([]);
});

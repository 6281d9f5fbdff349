import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');
const skippedNames = new Set(['node_modules', 'dist', '.git', '.ci', '.stryker-tmp']);
const skippedPaths = new Set(['data', 'bench/results', 'server/test/fixtures']);

export type RepositoryFile = { path: string; text: string };

/**
 * The files that people write and read: sources, tests, statements, pages. Without what tools write (lockfile, built
 * pages, measurements) and fixtures, whose words are other people's.
 */
export function readRepositoryFiles(extensions: readonly string[]): RepositoryFile[] {
  const paths: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) {
        const path = join(folder, entry.name);
        // What a build of the site that was cut off left.
        if (entry.name.startsWith('dist.making-')) continue;
        if (!skippedNames.has(entry.name) && !skippedPaths.has(relative(root, path))) walk(path);
      } else if (extensions.some((extension) => entry.name.endsWith(extension))) paths.push(join(folder, entry.name));
    }
  };
  walk(root);
  return paths.sort().map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }));
}

/** A comment's line breaks and markers as one space, so that what wraps over two lines is found. */
export function joinLines(text: string): string {
  return text.replace(/[ \t]*\n[ \t]*(?:\*(?![/*])|\/\/|--|>|#(?!#))?[ \t]*/g, ' ');
}

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const source = join(root, 'server', 'src');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const tour = read('docs/tour.md');
const pages = `${tour}\n${['ARCHITECTURE.md', 'AGENTS.md', 'docs/internals.md'].map(read).join('\n')}`;

/** The text of all sources of a folder below server/src, or of one file. */
function readSources(folder: string): string {
  if (folder.endsWith('.ts')) return readFileSync(join(source, folder), 'utf8');
  const names = readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(source, folder, name), 'utf8'))
    .join('\n');
}

function declares(text: string, symbol: string): boolean {
  return new RegExp(`\\b(?:function\\*?|const|class|type|interface) ${symbol}\\b`).test(text);
}

/** The symbol and the file of each row. */
const rows = [...tour.matchAll(/^\| [^|]+ \| `(\w+)`[^|]* \| `([\w/.-]+)` \|/gm)].map(([, symbol, file]) => ({
  symbol: symbol!,
  file: file!,
}));

describe('the tour of the code', () => {
  test('names symbols that their files declare', () => {
    expect(rows.length).toBe(tour.match(/^\| (?!#|Question|-)/gm)!.length);
    const missing = rows.filter(
      ({ symbol, file }) => !existsSync(join(source, file)) || !declares(readSources(file), symbol),
    );
    expect(missing).toEqual([]);
  });

  test('follows one push in at most ten steps', () => {
    const [, push] = /^## One push\n([^]*?)^## /m.exec(tour)!;
    expect(push!.match(/^\| \d+ \|/gm)!.length).toBeLessThanOrEqual(10);
  });

  test('and the pages on the structure name functions that exist', () => {
    const all = readSources('.');
    const symbols = new Set(
      [...pages.matchAll(/`((?:make|find|parse|run|in|for|across)[A-Z]\w*)`/g)].map(([, name]) => name!),
    );
    expect(symbols.size).toBeGreaterThan(15);
    const isThere = (name: string): boolean => declares(all, name) || new RegExp(`\\b${name}\\(`).test(all);
    expect([...symbols].filter((name) => !isThere(name))).toEqual([]);
  });

  test('and the pages on the structure name paths that exist', () => {
    const paths = [...pages.matchAll(/`([a-z0-9-]+(?:\/[a-z0-9.-]+)+\/?)`/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(40);
    expect(paths.filter((path) => !existsSync(join(source, path)) && !existsSync(join(root, path)))).toEqual([]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRepositoryFiles } from './repository-files.ts';

const root = join(import.meta.dirname, '..', '..');
/** Says that something holds whatever happens. What is merely described is no promise. */
const promising =
  /\b(guarantee[sd]?|exactly once|at least once|survives? any|durably stored|loses nothing|is lost and nobody|never by halves|(?:nothing|nobody)(?: else)? is (?:repeated|skipped|lost)|repeats nothing|a line for every|are never removed|nothing is deleted for)\b/i;
/**
 * Beside the promise, where a forge does not show it: `<!-- proved by: server/test/file.test.ts > name of the test -->`, or the
 * command that proves what takes longer than a test may.
 */
const proofs = /<!-- proved by: (?:(\S+\.test\.ts) > (.+?)|npm run ([a-z:]+)) -->/g;

type Statement = { path: string; text: string };

/** Paragraphs, items of lists and rows of tables, without what stands in blocks of code and what code wrote. */
function listStatements(path: string, page: string): Statement[] {
  const prose = page.replace(/^```[^]*?^```/gm, '').replace(/<!-- generated: [^]*?<!-- end -->/g, '');
  return prose.split(/\n\s*\n|\n(?=- |\||\d+\. )/).map((text) => ({ path, text: text.trim() }));
}

/** Pages for those who use it. Decisions give reasons, the specification is what is asked for, the changelog what was. */
const pages = readRepositoryFiles(['.md']).filter(
  ({ path }) => path === 'README.md' || /^docs\/(guides\/|recipes\/)?[\w-]+\.md$/.test(path),
);
const statements = pages.flatMap(({ path, text }) => listStatements(path, text));

/** The lines of the first page under "What it does" are promises, whatever their words. */
function listOffers(): Statement[] {
  const page = readFileSync(join(root, 'README.md'), 'utf8');
  const [, section] = /^## What it does\n([^]*?)^## /m.exec(page)!;
  return listStatements('README.md', section!).filter(({ text }) => text !== '');
}

test('what README and docs promise has beside it the test that proves it', () => {
  const offers = listOffers();
  expect(offers.length).toBeGreaterThan(9);
  const without = [...offers, ...statements.filter(({ text }) => promising.test(text))].filter(
    // docs/reliability.md is the list of proofs itself.
    ({ path, text }) => path !== 'docs/reliability.md' && text.search(proofs) === -1,
  );
  expect(without.map(({ path, text }) => `${path}: ${text}`)).toEqual([]);
});

test('every proof names a test that exists', () => {
  const named = statements.flatMap(({ path, text }) =>
    [...text.matchAll(proofs)].map(([, file, name, command]) => ({ path, file, name, command })),
  );
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  expect(named.length).toBeGreaterThan(12);
  const missing = named.filter(({ file, name, command }) => {
    if (file === undefined) return !Object.hasOwn(scripts, command!);
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
    return !["'", '"', '`'].some((quote) => text.includes(`${quote}${name}${quote}`));
  });
  expect(missing).toEqual([]);
});

test('a comment that looks like a proof is one', () => {
  const strange = statements.flatMap(({ text }) =>
    [...text.matchAll(/<!-- proved[^>]*>[^\n]*/g)].filter(([comment]) => comment.search(proofs) === -1).map(String),
  );
  expect(strange).toEqual([]);
});

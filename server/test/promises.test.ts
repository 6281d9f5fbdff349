import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRepositoryFiles } from './repository-files.ts';

const root = join(import.meta.dirname, '..', '..');
/** Words of a sentence that claims something holds in every case. A sentence that only describes is not a promise. */
const promising =
  /\b(guarantee[sd]?|exactly once|at least once|survives? any|durably stored|loses nothing|is lost and nobody|never by halves|never removes half|(?:nothing|nobody|no \w+)(?: else)? is (?:repeated|skipped|lost)|repeats nothing|a line for every|are never removed|nothing is deleted for)\b/i;

/** One row of docs/promises.md: a quotation of a document, and what proves it. Rows without a quotation continue the one above. */
type Promised = { document: string; promise: string; proof: string; title: string };
type Statement = { path: string; text: string };

/** Rows of the tables below the headings that name a document. `malformed` has every other line with a cell. */
function parsePromises(page: string): { rows: Promised[]; malformed: string[] } {
  const rows: Promised[] = [];
  const malformed: string[] = [];
  let document = '';
  for (const line of page.split('\n')) {
    document = /^## (\S+)$/.exec(line)?.[1] ?? document;
    if (!line.startsWith('|') || /^\| Promise \||^\|-/.test(line)) continue;
    const [, quoted, proof, title, ...rest] = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
    const promise = quoted || (rows.at(-1)?.document === document ? rows.at(-1)!.promise : '');
    const [, name] = /^`(npm run [a-z:]+|\S+\.test\.ts)`$/.exec(proof ?? '') ?? [];
    const isComplete = promise !== '' && name !== undefined && name.startsWith('npm run ') === (title === '');
    if (!isComplete || rest.join('') !== '') malformed.push(line);
    else rows.push({ document, promise, proof: name, title: title! });
  }
  return { rows, malformed };
}

/** The text as docs/promises.md quotes it: one line, without links, emphasis and marks of lists. */
function quotable(text: string): string {
  return text
    .replace(/!?\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('*', '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Paragraphs, list items and table rows, without code blocks and generated sections. */
function listStatements({ path, text }: Statement): Statement[] {
  const prose = text.replace(/^```[^]*?^```/gm, '').replace(/<!-- generated: [^]*?<!-- end -->/g, '');
  return prose.split(/\n\s*\n|\n(?=- |\||\d+\. )/).map((part) => ({ path, text: quotable(part) }));
}

/** Pages for users. Decisions give reasons, the specification is the requirement, reliability.md is its own list of proofs. */
const pages = readRepositoryFiles(['.md']).filter(
  ({ path }) =>
    (path === 'README.md' || /^docs\/(guides\/|recipes\/)?[\w-]+\.md$/.test(path)) &&
    !['docs/promises.md', 'docs/reliability.md'].includes(path),
);
const { rows, malformed } = parsePromises(readFileSync(join(root, 'docs', 'promises.md'), 'utf8'));

/** Every line under "What it does" of the README is a promise, whatever its words. */
function listOffers(): Statement[] {
  const page = readFileSync(join(root, 'README.md'), 'utf8');
  const [, section] = /^## What it does\n([^]*?)^## /m.exec(page)!;
  return listStatements({ path: 'README.md', text: section! }).filter(({ text }) => text !== '');
}

/** Statements that no row quotes a part of. */
function findUnproved(statements: Statement[], promised: Promised[]): string[] {
  return statements
    .filter(
      ({ path, text }) =>
        !promised.some(({ document, promise }) => document === path && text.includes(quotable(promise))),
    )
    .map(({ path, text }) => `${path}: ${text}`);
}

/** Rows whose quotation is not in one statement of their document. */
function findOutdated(promised: Promised[], statements: Statement[]): Promised[] {
  return promised.filter(
    ({ document, promise }) =>
      !statements.some(({ path, text }) => path === document && text.includes(quotable(promise))),
  );
}

/** Rows whose test file has no such title, or whose command does not exist. */
function findUnfounded(promised: Promised[]): Promised[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  return promised.filter(({ proof, title }) => {
    if (title === '') return !Object.hasOwn(scripts, proof.replace('npm run ', ''));
    const text = existsSync(join(root, proof)) ? readFileSync(join(root, proof), 'utf8') : '';
    return !["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
  });
}

const statements = pages.flatMap(listStatements);

describe('docs/promises.md', () => {
  test('lists each promise of README and docs', () => {
    const offers = listOffers();
    expect(offers.length).toBeGreaterThan(9);
    expect(findUnproved([...offers, ...statements.filter(({ text }) => promising.test(text))], rows)).toEqual([]);
  });

  test('quotes what its documents still say', () => {
    expect(findOutdated(rows, statements)).toEqual([]);
  });

  test('names tests and commands that exist', () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(findUnfounded(rows)).toEqual([]);
  });

  test('has no row that would be passed over', () => {
    expect(malformed).toEqual([]);
    const page = ['## README.md', '| a | `server/x.ts` | b |', '| | `npm run docs` | |', '| a | `npm run docs` | b |'];
    expect(parsePromises(page.join('\n')).malformed).toHaveLength(3);
  });

  test('is the only place of proofs: README and docs have no hidden ones', () => {
    expect(pages.filter(({ text }) => text.includes('<!-- proved')).map(({ path }) => path)).toEqual([]);
    expect(readFileSync(join(root, 'README.md'), 'utf8')).not.toContain('<!--');
  });

  test('is refused when a promise left its document, a line has no row, or a test is gone', () => {
    const [row] = parsePromises('## README.md\n| Loses **nothing** \\| ever. | `npm run docs` | |').rows;
    const page = listStatements({ path: 'README.md', text: '- Loses [nothing](a.md) |\n  ever.' });
    expect(findOutdated([row!], page)).toEqual([]);
    expect(findUnproved(page, [row!])).toEqual([]);
    const changed = listStatements({ path: 'README.md', text: '- Loses little | ever.' });
    expect(findOutdated([row!], changed)).toEqual([row]);
    expect(findUnproved(changed, [row!])).toEqual(['README.md: - Loses little | ever.']);
    const gone = { ...row!, proof: 'server/test/promises.test.ts', title: ['no', 'such title'].join(' ') };
    expect(findUnfounded([row!, gone, { ...row!, proof: 'npm run nothing' }])).toHaveLength(2);
  });
});

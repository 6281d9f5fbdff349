import { describe, expect, test } from 'vitest';
import { joinLines, readRepositoryFiles } from './repository-files.ts';

/**
 * How a page is cited: its word, always in the singular, then an anchor of that page. Further anchors may follow after a
 * comma, "and", "or" or "to" when they cannot be mistaken for plain numbers.
 */
const grammar: Record<string, { page: string; anchor: string }> = {
  interface: { page: 'docs/spec/interface.md', anchor: '\\d{1,2}(?:\\.\\d{1,2})?(?: (?:rule|difference) \\d{1,2})?' },
  decision: { page: 'docs/spec/decisions.md', anchor: '(?:D\\d{1,2}a?|\\d{4})' },
  fact: { page: 'docs/spec/facts.md', anchor: '\\d{1,2}(?:\\.\\d{1,2})?' },
  delivery: { page: 'docs/spec/delivery.md', anchor: '\\d' },
  fault: { page: 'docs/spec/faults.md', anchor: '(?:F\\d{1,2}|\\d\\.\\d{1,2}(?: check \\d{1,2})?)' },
  finding: { page: 'docs/spec/faults.md', anchor: '\\d{1,2}' },
  reliability: { page: 'docs/spec/reliability.md', anchor: 'R\\d{1,2}' },
};

const forms = Object.entries(grammar).map(([word, { anchor }]) => ({
  word,
  form: new RegExp(
    `\\b${word} (${anchor}(?:(?:,| and| or| to) (?=[A-Z]\\d|\\d+\\.\\d|\\d{4})${anchor})*)(?![\\w-])`,
    'gi',
  ),
  anchor: new RegExp(anchor, 'g'),
}));

/** Spellings that are nearly citations; each would lead nowhere. */
const nearMisses: [RegExp, string][] = [
  [
    /\b(?:decisions|facts|faults|findings|interfaces),? (?:[DFR]|§ ?)?\d/gi,
    'the word of a page stands in the singular',
  ],
  [
    /\b(?:architecture|libraries|design of \w+|spec|specification|contract),? (?:§ ?)?\d/gi,
    'names no page of docs/spec',
  ],
  [/\bRFC-?\d|\bRFC \d+,? (?:section|appendix|\d)/g, 'an RFC is cited as "RFC 8291 §3.4" or "RFC 7541 Appendix A"'],
];

const bareAnchor = /(?<![\w.#/\-[])[DFR]\d{1,2}a?(?![\w-])/g;

type Citation = { word: string; anchor: string; at: number; end: number };

function findCitations(text: string): Citation[] {
  return forms.flatMap(({ word, form, anchor }) =>
    [...text.matchAll(form)].flatMap((match) =>
      [...match[1]!.matchAll(anchor)].map(([found]) => ({
        word,
        anchor: found,
        at: match.index,
        end: match.index + match[0].length,
      })),
    ),
  );
}

/** What is wrong with the citations of a text, apart from where they lead. */
function findNearMisses(text: string, { definesAnchors }: { definesAnchors: boolean }): string[] {
  const found = nearMisses.flatMap(([form, why]) => [...text.matchAll(form)].map((match) => `"${match[0]}": ${why}`));
  const citations = findCitations(text);
  const bare = [...text.matchAll(bareAnchor)].filter(
    ({ index }) => !citations.some(({ at, end }) => index >= at && index < end),
  );
  return definesAnchors ? found : [...found, ...bare.map(([anchor]) => `"${anchor}": the word of its page is missing`)];
}

const files = readRepositoryFiles(['.ts', '.tsx', '.js', '.sql', '.md', '.css', '.yml'])
  // The changelog tells of the past; this file spells what is wrong.
  .filter(({ path }) => path !== 'CHANGELOG.md' && !path.endsWith('citations.test.ts'))
  .map(({ path, text }) => ({ path, text: joinLines(text) }));

const pages = new Map(readRepositoryFiles(['.md']).map(({ path, text }) => [path, text]));

function anchorsOf(page: string): string[] {
  return [...pages.get(page)!.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id!);
}

function leadsSomewhere({ word, anchor }: Citation): boolean {
  if (word === 'decision' && /^\d/.test(anchor))
    return [...pages.keys()].some((path) => path.startsWith(`docs/decisions/${anchor}-`));
  const id = (word === 'finding' ? `finding ${anchor}` : anchor).toLowerCase().replaceAll(' ', '-');
  return anchorsOf(grammar[word]!.page).includes(id);
}

describe('citations', () => {
  test('of every file lead to an anchor of docs/spec or to a page of docs/decisions', () => {
    const citations = files.flatMap(({ path, text }) => findCitations(text).map((citation) => ({ path, citation })));
    expect(citations.length).toBeGreaterThan(450);
    const lost = citations.filter(({ citation }) => !leadsSomewhere(citation));
    expect(lost.map(({ path, citation }) => `${path}: ${citation.word} ${citation.anchor}`)).toEqual([]);
  });

  test('have one spelling', () => {
    const wrong = files.flatMap(({ path, text }) =>
      findNearMisses(text, { definesAnchors: path.startsWith('docs/spec/') }).map((what) => `${path}: ${what}`),
    );
    expect(wrong).toEqual([]);
  });

  test('name anchors that stand once on their page', () => {
    for (const page of new Set(Object.values(grammar).map((entry) => entry.page))) {
      const anchors = anchorsOf(page);
      expect(anchors.length, page).toBeGreaterThan(3);
      expect(new Set(anchors).size, page).toBe(anchors.length);
    }
  });

  test.each([
    ['interface 2.6 rule 4', ['2.6 rule 4']],
    ['(interface 4.1, 4.2, decision D10 to D19)', ['4.1', '4.2', 'D10', 'D19']],
    ['fault 3.12 check 21, finding 9, reliability R2, R3', ['3.12 check 21', '9', 'R2', 'R3']],
    ['interface 8, 10 an hour; decision 0019', ['8', '0019']],
  ])('%s is read', (text, anchors) => {
    const found = findCitations(text).sort((one, other) => one.at - other.at);
    expect(found.map(({ anchor }) => anchor)).toEqual(anchors);
    expect(findNearMisses(text, { definesAnchors: false })).toEqual([]);
  });

  test.each([
    'decisions D31',
    'Facts 3.3',
    'design of delivery 2',
    '(D5)',
    'architecture 4',
    'RFC 8291 section 5',
    'RFC 6749 5.2',
    'spec 2.6',
  ])('%s is no citation', (text) => {
    expect(findNearMisses(text, { definesAnchors: false })).not.toEqual([]);
  });

  test.each(['interface 2.99', 'decision D99', 'fault F99', 'decision 0999', 'finding 99', 'fact 3.99'])(
    '%s leads nowhere',
    (text) => {
      expect(findCitations(text).map(leadsSomewhere)).toEqual([false]);
    },
  );
});

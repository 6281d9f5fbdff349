import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeFinder } from '../../scripts/site/browser/find-sections.ts';
import type { Found } from '../../scripts/site/browser/find-sections.ts';
import { phrases, stopWords, synonyms } from '../../scripts/site/browser/search-words.ts';
import { readSite } from '../../scripts/site/read-site.ts';
import type { Site } from '../../scripts/site/read-site.ts';
import { makeSearchRows } from '../../scripts/site/search-rows.ts';
import { taskQueries, wordQueries } from './docs-queries.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the search of the documentation', () => {
  let site: Site;
  let find: (typed: string) => Found[];
  beforeAll(async () => {
    site = await readSite(root);
    find = makeFinder(makeSearchRows(site.pages));
  }, 60_000);

  /** The place of the first answer in the list, from 1; 0 if it is not in the list. */
  function placeOf(typed: string, answers: readonly string[]): number {
    const found = find(typed).map(({ row }) => row[2]);
    return found.findIndex((address) => answers.some((answer) => isAnswer(address, answer))) + 1;
  }
  const isAnswer = (address: string, answer: string): boolean =>
    answer.includes('#') ? address === answer : address.split('#', 1)[0] === answer;
  const describeMiss = ([typed, ...answers]: readonly [string, ...string[]]): string =>
    `${typed} → ${find(typed)
      .slice(0, 4)
      .map(({ row }) => row[2])
      .join(', ')} instead of ${answers[0]}`;

  test('expects only pages and sections that exist', () => {
    const addresses = new Set(
      site.pages.flatMap(({ address, sections }) => [address, ...sections.map(({ id }) => `${address}#${id}`)]),
    );
    const answers = [...taskQueries, ...wordQueries].flatMap(([, ...pages]) => pages);
    expect(answers.filter((answer) => !addresses.has(answer))).toEqual([]);
  });

  test('shows the right page first for at least 26 of 32 tasks, and among the first four for all of them', () => {
    expect(taskQueries).toHaveLength(32);
    const places = taskQueries.map((query) => ({ query, place: placeOf(query[0], query.slice(1)) }));
    const missed = places.filter(({ place }) => place === 0 || place > 4).map(({ query }) => describeMiss(query));
    expect(missed).toEqual([]);
    const notFirst = places.filter(({ place }) => place !== 1).map(({ query }) => describeMiss(query));
    expect(notFirst.length, notFirst.join('\n')).toBeLessThanOrEqual(6);
  });

  test('answers the words that users of other services type, among the first four', () => {
    expect(wordQueries.length).toBeGreaterThanOrEqual(50);
    const missed = wordQueries.filter((query) => {
      const place = placeOf(query[0], query.slice(1));
      return place === 0 || place > 4;
    });
    expect(missed.map(describeMiss)).toEqual([]);
  });

  test('finds something for every word of the synonyms, and its page', () => {
    expect(Object.keys(synonyms).filter((word) => find(word).length === 0)).toEqual([]);
  });

  test('shows at most two sections of a page, and twelve in all', () => {
    const counts = new Map<string, number>();
    const found = find('campaign');
    for (const { row } of found) {
      const page = row[2].split('#', 1)[0]!;
      counts.set(page, (counts.get(page) ?? 0) + 1);
    }
    expect(found).toHaveLength(12);
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(2);
  });

  test.each([
    [
      'a sentence with a word that no page has',
      'how can I use the xyzzyplugh with quiet hours',
      'concepts/#how-much-a-user-gets',
    ],
    ['stop words only', 'how to', undefined],
    ['a misspelled word', 'promethues', 'metrics/'],
    ['a part of a word', 'quarant', 'states/'],
  ])('finds sections for %s', (_name, typed, answer) => {
    const found = find(typed).map(({ row }) => row[2]);
    expect(found.length).toBeGreaterThan(0);
    if (answer !== undefined)
      expect(found.slice(0, 4).some((address) => address.startsWith(answer.split('#')[0]!))).toBe(true);
  });

  test('finds nothing for an empty field', () => {
    expect(find('  ')).toEqual([]);
  });

  test('has no stop word that is also a synonym or a phrase', () => {
    const words = [...Object.keys(synonyms), ...phrases.map(([, word]) => word)];
    expect(words.filter((word) => stopWords.has(word))).toEqual([]);
  });
});

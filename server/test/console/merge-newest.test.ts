import { expect, test } from 'vitest';
import type { TimelineEntry } from '../../../console/src/api/generated/users.ts';
import { mergeNewest } from '../../../console/src/users/merge-newest.ts';

const entry = (key: string, code: string | null = null): TimelineEntry => ({
  ...{ key, at: '2026-03-01T10:00:00.000Z', kind: 'EVENT', name: null, campaignId: null, deviceId: null },
  ...{ platform: null, outcome: null, code, detail: {} },
});
/** "cba" is a page of three entries, the newest first, after which there are more; after "cba|" there are none. */
const pageOf = (text: string) => {
  const keys = [...text.replace('|', '')];
  return { entries: keys.map((key) => entry(key)), next: text.endsWith('|') ? null : keys.at(-1)! };
};
/** A page is asked for by the end of the one before it. */
const pagesOf = (text: string) => {
  const pages = text.split(' ').map(pageOf);
  return { pages, pageParams: [null, ...pages.slice(0, -1).map(({ next }) => next)] };
};
/** The same way back. */
function shown(merged: ReturnType<typeof mergeNewest>): string {
  const { pages, pageParams } = merged;
  expect(pageParams).toEqual([null, ...pages.slice(0, -1).map(({ next }) => next)]);
  const keys = pages.map(({ entries }) => entries.map(({ key }) => key).join(''));
  return `${keys.join(' ')}${pages.at(-1)!.next === null ? '|' : ''}`;
}

test.each([
  ['nothing new', 'fed cba|', 'fed', 'fed cba|'],
  ['one new entry, which pushes the last of the page into the next', 'fed', 'gfe', 'gfe d'],
  ['the same with older pages', 'fed cba|', 'gfe', 'gfe d cba|'],
  ['what was pushed on before', 'gfe d cba|', 'hgf', 'hgf e d cba|'],
  ['a whole page that is new, at whose end the old ones begin', 'fed cba', 'hgf', 'hgf ed cba'],
  ['more than a page that is new: the older ones are asked for again', 'fed cba', 'jih', 'jih'],
  ['all that there is on the newest page', 'fed cba|', 'd|', 'd|'],
  ['an entry that came to the top again is there once', 'fed cba|', 'bfe', 'bfe d ca|'],
  ['an entry that went away', 'fed cba|', 'fdc', 'fdc ba|'],
])('%s', (_name, ...[loaded, newest, merged]) => {
  expect(shown(mergeNewest(pagesOf(loaded), pageOf(newest)))).toBe(merged);
});

test('a user of whom nothing is left has an empty page', () => {
  const newest = { entries: [], next: null };
  expect(mergeNewest(pagesOf('fed cba'), newest)).toEqual({ pages: [newest], pageParams: [null] });
});

test('an entry that was shown is as it is now', () => {
  const newest = { entries: [entry('b', 'UNREGISTERED')], next: 'b' };
  expect(mergeNewest(pagesOf('ba|'), newest).pages).toEqual([newest, pageOf('a|')]);
});

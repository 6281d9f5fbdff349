import type { InfiniteData } from '@tanstack/react-query';
import type { TimelinePage } from '../api/generated/users.ts';

export type TimelinePages = InfiniteData<TimelinePage, string | null>;

/**
 * What was loaded of a timeline with its newest page as it is now. Older pages stay, and where they begin is found by the last
 * entry of the newest one; when so much happened that it is unknown, they are loaded again when they are asked for.
 */
export function mergeNewest({ pages, pageParams }: TimelinePages, newest: TimelinePage): TimelinePages {
  const last = newest.entries.at(-1)?.key;
  const isNewest = new Set(newest.entries.map(({ key }) => key));
  const alone = { pages: [newest], pageParams: [null] };
  const at = pages.findIndex(({ entries }) => entries.some(({ key }) => key === last));
  if (newest.next === null || at === -1) return alone;
  const from = pages[at]!.entries.findIndex(({ key }) => key === last) + 1;
  const older = pages.slice(at).map(({ entries, next }, index) => ({
    entries: entries.slice(index === 0 ? from : 0).filter(({ key }) => !isNewest.has(key)),
    next,
  }));
  // The rest of the page in which the newest one ends; where nothing is left of it, its next page follows at once.
  const kept = older.map((page, index) => ({ page, param: index === 0 ? newest.next : pageParams[at + index]! }));
  const [rest, ...others] = kept;
  const following = rest!.page.entries.length > 0 ? kept : others;
  return {
    pages: [newest, ...following.map(({ page }) => page)],
    pageParams: [null, ...following.map(({ param }) => param)],
  };
}

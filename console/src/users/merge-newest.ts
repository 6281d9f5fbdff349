import type { InfiniteData } from '@tanstack/react-query';
import type { TimelinePage } from '../api/generated/users.ts';

export type TimelinePages = InfiniteData<TimelinePage, string | null>;

/**
 * Merges the refetched newest page of a timeline into the loaded pages. The last entry of the newest page shows where
 * the older pages begin. If too much happened to find it, the older pages are dropped and loaded again on request.
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
  // The rest of the page in which the newest one ends. If nothing is left, the next page follows.
  const kept = older.map((page, index) => ({ page, param: index === 0 ? newest.next : pageParams[at + index]! }));
  const [rest, ...others] = kept;
  const following = rest!.page.entries.length > 0 ? kept : others;
  return {
    pages: [newest, ...following.map(({ page }) => page)],
    pageParams: [null, ...following.map(({ param }) => param)],
  };
}

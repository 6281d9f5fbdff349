import { columnsOf, textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The tabs of a segment, in their order. */
export const segmentTabs = {
  summary: 'Summary',
  campaigns: 'Campaigns',
  messages: 'Callbacks & emails',
} as const;
export type SegmentTab = keyof typeof segmentTabs;

/** The search parameters of a segment. Without a tab, the page shows the summary. */
export type SegmentSearch = { tab?: Exclude<SegmentTab, 'summary'> };

export function readSegmentSearch(search: AddressSearch): SegmentSearch {
  const tab = textOf(search.tab);
  return tab === 'campaigns' || tab === 'messages' ? { tab } : {};
}

export const segmentOrders = { name: 'Name', largest: 'Largest first', oldest: 'Oldest first' } as const;
export type SegmentOrder = keyof typeof segmentOrders;

/** The search parameters of the list. Without an order, the newest come first. */
export type SegmentListSearch = {
  name?: string;
  state?: 'archived' | 'active';
  order?: SegmentOrder;
  columns?: string[];
};

export function readSegmentListSearch(search: AddressSearch): SegmentListSearch {
  const [name, state, order] = [textOf(search.name), textOf(search.state), textOf(search.order)];
  return {
    ...(name !== undefined && { name }),
    ...((state === 'archived' || state === 'active') && { state }),
    ...(order !== undefined && Object.hasOwn(segmentOrders, order) && { order: order as SegmentOrder }),
    ...columnsOf(search),
  };
}

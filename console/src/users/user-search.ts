import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The search parameters of the list of users. */
export type UserListSearch = {
  /** The search. */
  q?: string;
  /** Undefined for the list of all users. */
  view?: 'tests' | 'suspected';
  /** The start of the page of the list. */
  after?: string;
};

export function readUserListSearch(search: AddressSearch): UserListSearch {
  const [q, after, view] = [textOf(search.q), textOf(search.after), textOf(search.view)];
  const page = after === undefined ? {} : { after };
  if (view === 'tests') return { view };
  if (view === 'suspected') return { view, ...page };
  return { ...(q === undefined ? {} : { q }), ...page };
}

/** The tabs of a user, in their order. */
export const userTabs = {
  summary: 'Summary',
  messages: 'Messages',
  attributes: 'Attributes',
  timeline: 'Timeline',
} as const;
export type UserTab = keyof typeof userTabs;

/** The search parameters of a user. */
export type UserSearch = {
  /** Undefined for the summary. */
  tab?: Exclude<UserTab, 'summary'>;
  /** The campaign that the summary explains. */
  campaign?: string;
};

export function readUserSearch(search: AddressSearch): UserSearch {
  const [tab, campaign] = [textOf(search.tab), textOf(search.campaign)];
  return {
    ...(isTab(tab) ? { tab } : {}),
    ...(campaign === undefined ? {} : { campaign }),
  };
}

function isTab(tab: string | undefined): tab is Exclude<UserTab, 'summary'> {
  return tab !== undefined && tab !== 'summary' && Object.hasOwn(userTabs, tab);
}

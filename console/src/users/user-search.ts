import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** What the address of the list of users says. */
export type UserListSearch = {
  /** The word that is looked for. */
  q?: string;
  /** Undefined: the search. */
  view?: 'suspected';
  /** Of suspected devices: where the page begins. */
  after?: string;
};

export function readUserListSearch(search: AddressSearch): UserListSearch {
  const [q, after] = [textOf(search.q), textOf(search.after)];
  if (textOf(search.view) === 'suspected') return { view: 'suspected', ...(after === undefined ? {} : { after }) };
  return q === undefined ? {} : { q };
}

/** Parts of what is known of a user, in the order in which they are asked for. */
export const userTabs = {
  summary: 'Summary',
  messages: 'Messages',
  attributes: 'Attributes',
  timeline: 'Timeline',
} as const;
export type UserTab = keyof typeof userTabs;

/** What the address of a user says. */
export type UserSearch = {
  /** Undefined: the summary. */
  tab?: Exclude<UserTab, 'summary'>;
  /** Of the summary: the campaign that it is explained for. */
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

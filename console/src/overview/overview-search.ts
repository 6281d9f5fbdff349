import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The search parameters of the overview. */
export type OverviewSearch = {
  /** Undefined for the summary. */
  view?: 'details';
};

export function readOverviewSearch(search: AddressSearch): OverviewSearch {
  return textOf(search.view) === 'details' ? { view: 'details' } : {};
}

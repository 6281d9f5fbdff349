import type { CallFilters } from '../api/call-log.ts';
import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** What the address of the log says: which log, its filters, the call that is open. */
export type LogSearch = CallFilters & {
  view?: 'callbacks' | 'mails';
  /** Callbacks and mails that nobody took. */
  state?: 'failed';
  call?: string;
};

export function readLogSearch(search: AddressSearch): LogSearch {
  const view = textOf(search.view);
  const text = (name: 'key' | 'after' | 'call') =>
    textOf(search[name]) === undefined ? {} : { [name]: textOf(search[name]) };
  return {
    ...(view === 'callbacks' || view === 'mails' ? { view } : {}),
    ...(textOf(search.of) === 'nobody' ? { of: 'nobody' as const } : {}),
    ...(textOf(search.only) === 'refused' ? { only: 'refused' as const } : {}),
    ...(textOf(search.state) === 'failed' ? { state: 'failed' as const } : {}),
    ...text('key'),
    ...text('after'),
    ...text('call'),
  };
}

import type { CallFilters } from '../api/console-client.ts';
import { columnsOf, textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The search parameters of the log: the view, its filters and the opened entry. */
export type LogSearch = CallFilters & {
  view?: 'callbacks' | 'mails' | 'streams';
  /** Callbacks and emails that were not accepted. */
  state?: 'failed';
  /** The opened call, callback or email. */
  call?: string;
  /** The shown columns of calls; undefined for the default ones. */
  columns?: string[];
};

const texts = ['key', 'status', 'path', 'text', 'from', 'before', 'after', 'call'] as const;

export function readLogSearch(search: AddressSearch): LogSearch {
  const view = textOf(search.view);
  const chosen = texts.flatMap((name) => {
    const text = textOf(search[name]);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    ...(view === 'callbacks' || view === 'mails' || view === 'streams' ? { view } : {}),
    ...(textOf(search.of) === 'nobody' ? { of: 'nobody' as const } : {}),
    ...(textOf(search.only) === 'refused' ? { only: 'refused' as const } : {}),
    ...(textOf(search.state) === 'failed' ? { state: 'failed' as const } : {}),
    ...Object.fromEntries(chosen),
    ...columnsOf(search),
  };
}

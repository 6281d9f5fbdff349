import type { CallFilters } from '../api/console-client.ts';
import { columnsOf, textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** What the address of the log says: which log, its filters, the call that is open. */
export type LogSearch = CallFilters & {
  view?: 'callbacks' | 'mails' | 'streams';
  /** Callbacks and mails that nobody took. */
  state?: 'failed';
  /** What is open: a call, a callback, an email. */
  call?: string;
  /** Those that are shown of calls; undefined: the usual ones. */
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

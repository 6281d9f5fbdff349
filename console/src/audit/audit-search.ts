import type { AuditFilters } from '../api/accounts.ts';
import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

const names = ['actor', 'action', 'object', 'from', 'until'] as const;

export function readAuditSearch(search: AddressSearch): AuditFilters {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(search[name]);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

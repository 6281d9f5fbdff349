import { listAuditEntries } from '../../storage/accounts/accounts.ts';
import type { AuditEntry, AuditFilters } from '../../storage/accounts/accounts.ts';
import type { AccountDependencies } from './account-dependencies.ts';

export type { AuditEntry };

export type AuditQuery = AuditFilters & { workspaceId: string; beforeId: string | undefined };

const maxEntries = 100;
/** Of a file. */
export const maxExportedLines = 10_000;

/** Newest first. */
export function listAudit({ database }: Pick<AccountDependencies, 'database'>, query: AuditQuery) {
  return listAuditEntries(database, { ...query, limit: maxEntries });
}

/** The same, page after page, to the bound. */
export async function* exportAudit(
  { database }: Pick<AccountDependencies, 'database'>,
  query: Omit<AuditQuery, 'beforeId'>,
): AsyncGenerator<AuditEntry[]> {
  const limit = 500;
  let beforeId: string | undefined;
  for (let left = maxExportedLines; left > 0; left -= limit) {
    const entries = await listAuditEntries(database, { ...query, beforeId, limit });
    yield entries;
    beforeId = entries.at(-1)?.id;
    if (entries.length < limit) return;
  }
}

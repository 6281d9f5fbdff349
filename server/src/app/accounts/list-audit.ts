import { listAuditEntries } from '../../storage/accounts/accounts.ts';
import type { AccountDependencies } from './account-dependencies.ts';

const maxEntries = 100;

/** Newest first. */
export function listAudit(
  { database }: Pick<AccountDependencies, 'database'>,
  page: { workspaceId: string; beforeId: string | undefined },
) {
  return listAuditEntries(database, { ...page, limit: maxEntries });
}

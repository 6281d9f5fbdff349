import type { UserIdentity } from '../../domain/users/user-identity.ts';
import { isId } from '../../domain/ids.ts';
import type { Database } from '../../storage/database.ts';
import { findUsersToExport } from '../../storage/users/users.ts';
import type { ExportedUser } from '../../storage/users/users.ts';

export type ExportUsersQuery = {
  workspaceId: string;
  identities: UserIdentity[];
  /** Only these attributes; undefined means all. */
  fields: string[] | undefined;
};

export type { ExportedUser };

/** The requested users, in the order of their identities; undefined where there is none. */
export async function exportUsers(
  { database }: { database: Database },
  { workspaceId, identities }: ExportUsersQuery,
): Promise<(ExportedUser | undefined)[]> {
  const customerIds = identities.filter(({ kind }) => kind === 'customer-id').map(({ value }) => value);
  const ids = identities.filter(({ kind, value }) => kind === 'id' && isId(value)).map(({ value }) => value);
  const found = await findUsersToExport(database, { workspaceId, customerIds, ids });
  return identities.map(({ kind, value }) =>
    found.find((user) => (kind === 'id' ? user.id === value : user.namedBy === value)),
  );
}

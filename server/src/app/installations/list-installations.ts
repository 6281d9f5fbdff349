import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../../storage/database.ts';
import { listInstallationsOfUser, listNewestInstallations } from '../../storage/installations.ts';
import type { InstallationRecord } from '../../storage/installations.ts';
import { listApiKeys } from '../../storage/keys/api-keys.ts';
import { findUsers } from '../../storage/users/users.ts';

/** An installation with the names of its key and its user. */
export type ListedInstallation = Omit<InstallationRecord, 'user' | 'keyId'> & {
  /** Null for a key that no longer exists. */
  keyName: string | null;
  /** Null while it has no user. */
  userId: string | null;
  customerId: string | null;
};

// A user has a few phones and browsers; the newest of a workspace show that an app works.
const maxListed = 50;

/** Lists the installations of a user, or the newest of a workspace. */
export async function listInstallations(
  database: Queryable,
  { workspaceId, user }: { workspaceId: string; user?: UserKey },
): Promise<ListedInstallation[]> {
  const named = { workspaceId, limit: maxListed };
  const found = user
    ? await listInstallationsOfUser(database, { ...named, ...user })
    : await listNewestInstallations(database, named);
  if (found.length === 0) return [];
  const users = await findUsers(database, {
    ...{ workspaceId, names: [] },
    users: found.flatMap((installation) => installation.user ?? []),
  });
  const keys = new Map((await listApiKeys(database, workspaceId)).map(({ id, name }) => [id, name]));
  return found.map(({ user: owner, keyId, ...installation }) => ({
    ...installation,
    keyName: keys.get(keyId) ?? null,
    userId: owner?.userId ?? null,
    customerId: (owner && users.get(owner.userId)?.customerId) ?? null,
  }));
}

import type { UserIdentity } from '../../domain/users/user-identity.ts';
import { isId, makeId } from '../../domain/ids.ts';
import type { Transaction } from '../../storage/database.ts';
import { findRetainedUser } from '../../storage/users/merged-users.ts';
import { deleteUser, findUserById, lockOrInsertUser, lockUser, lockUserByKey } from '../../storage/users/users.ts';
import type { LockedUser } from '../../storage/users/users.ts';

type Named = { workspaceId: string; customerId: string };

// A retained user may itself be merged between the look and the lock; that it happens three times in a row is no accident.
const maxLooks = 3;

/** The user that a customer id means, locked: its own, or the one it was merged into. */
export async function lockUserOrRetained(tx: Transaction, named: Named): Promise<LockedUser | undefined> {
  return (await lockUser(tx, named)) ?? lockRetained(tx, named);
}

/** The same, made when missing. */
export async function lockOrMakeUser(tx: Transaction, named: Named & { at: Date }): Promise<LockedUser> {
  const user = await lockOrInsertUser(tx, { ...named, id: makeId(named.at) });
  if (!user.isNew) return user;
  // Looked up after the insert, which waited for a merge under way: only new customer ids can have been merged away.
  const retained = await lockRetained(tx, named);
  if (!retained) return user;
  await deleteUser(tx, { workspaceId: named.workspaceId, ...user });
  return retained;
}

async function lockRetained(tx: Transaction, named: Named): Promise<LockedUser | undefined> {
  for (let look = 1; look <= maxLooks; look += 1) {
    const key = await findRetainedUser(tx, named);
    if (!key) return undefined;
    const user = await lockUserByKey(tx, { workspaceId: named.workspaceId, ...key });
    if (user) return user;
  }
  return undefined;
}

/** The user a caller named by customer id or by id, locked. */
export async function lockIdentified(
  tx: Transaction,
  { workspaceId, identity }: { workspaceId: string; identity: UserIdentity },
): Promise<LockedUser | undefined> {
  if (identity.kind === 'customer-id') return lockUserOrRetained(tx, { workspaceId, customerId: identity.value });
  const found = isId(identity.value) ? await findUserById(tx, { workspaceId, id: identity.value }) : undefined;
  return found && lockUserByKey(tx, { workspaceId, ...found });
}

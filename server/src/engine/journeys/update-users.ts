import { identifiersOf } from '../../domain/users/users.ts';
import { mergeAttributes } from '../../domain/users/user-attributes.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Transaction } from '../../storage/database.ts';
import { setAttributesOfUsers } from '../../storage/journeys/due-positions.ts';
import { deleteIdentifiers, insertIdentifiers } from '../../storage/users/identifiers.ts';
import { findUsers } from '../../storage/users/users.ts';
import type { Walker } from './read-facts.ts';

type Change = UserKey & { before: Attributes; attributes: Attributes };

/**
 * Sets and removes attributes of the people who pass update steps, with the identifiers that follow from them. The caller holds
 * the users. A person with two entries in the batch gets the changes of both, in their order.
 */
export async function updateUsers(
  tx: Transaction,
  { walkers, now }: { walkers: readonly Walker[]; now: Date },
): Promise<void> {
  const ofWorkspaces = Map.groupBy(walkers, ({ position }) => position.workspaceId);
  for (const [workspaceId, own] of ofWorkspaces) {
    const changes = await findChanges(tx, { workspaceId, walkers: own });
    await setAttributesOfUsers(tx, { workspaceId, users: changes, at: now });
    for (const { bucket, userId, before, attributes } of changes) {
      const user = { workspaceId, bucket, userId };
      await deleteIdentifiers(tx, { ...user, identifiers: missingIn(attributes, before) });
      await insertIdentifiers(tx, { ...user, identifiers: missingIn(before, attributes) });
    }
  }
}

async function findChanges(
  tx: Transaction,
  { workspaceId, walkers }: { workspaceId: string; walkers: readonly Walker[] },
): Promise<Change[]> {
  const keys = walkers.map(({ position: { bucket, userId } }) => ({ bucket, userId }));
  const users = await findUsers(tx, { workspaceId, users: keys, names: 'all' });
  const changes = new Map<string, Change>();
  for (const { position, step } of walkers) {
    const { bucket, userId } = position;
    const before = users.get(userId)?.attributes;
    if (step.kind !== 'update' || !before) continue;
    const current = changes.get(userId)?.attributes ?? before;
    changes.set(userId, { bucket, userId, before, attributes: mergeAttributes(current, step.attributes) });
  }
  return [...changes.values()];
}

/** The identifiers of `there` that follow not from `here`. */
function missingIn(here: Attributes, there: Attributes) {
  const known = new Set(identifiersOf(here).map((identifier) => JSON.stringify(identifier)));
  return identifiersOf(there).filter((identifier) => !known.has(JSON.stringify(identifier)));
}

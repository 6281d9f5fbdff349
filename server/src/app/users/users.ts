import { ServiceError } from '../../domain/errors.ts';
import { isId, makeId } from '../../domain/ids.ts';
import { mergeAttributes, withoutUnset, zoneAttributeFault } from '../../domain/users/user-attributes.ts';
import type { Attributes, UnsetRule } from '../../domain/users/user-attributes.ts';
import { identifiersOf } from '../../domain/users/users.ts';
import type { Identifier, UserIdentity } from '../../domain/users/users.ts';
import type { Transaction, Database } from '../../storage/database.ts';
import { listDevicesOfUser } from '../../storage/devices/devices.ts';
import { moveInstallations } from '../../storage/installations.ts';
import { moveJourneys } from '../../storage/journeys/positions.ts';
import { moveTriggers } from '../../storage/triggers.ts';
import { isErasurePending } from '../../storage/users/erasures.ts';
import {
  deleteIdentifiers,
  insertIdentifiers,
  deleteIdentifiersOfUser,
  insertIdentifiersOfDevices,
} from '../../storage/users/identifiers.ts';
import {
  findRetainedUser,
  deleteClashingDevices,
  moveDevices,
  insertMergedUser,
  moveConversions,
  moveDeliveries,
  moveEvents,
  moveMemberships,
} from '../../storage/users/merged-users.ts';
import { moveInboxMessages } from '../../storage/inbox.ts';
import { moveTopicChoices } from '../../storage/users/topic-choices.ts';
import { moveUserMessages } from '../../storage/users/user-messages.ts';
import {
  setUserAttributes,
  deleteUser,
  findUserById,
  lockOrInsertUser,
  lockUser,
  lockUserByKey,
  lockUsersInOrder,
  findUsersToExport,
} from '../../storage/users/users.ts';
import type { LockedUser, ExportedUser } from '../../storage/users/users.ts';
import { findZoneAttribute } from '../../storage/workspaces.ts';

export type UpsertUserCommand = {
  workspaceId: string;
  customerId: string;
  /** A value replaces the attribute, `null` removes it. */
  attributes: Attributes;
  /** Removed before the attributes are set. */
  unset?: readonly UnsetRule[];
  /** Does not create an unknown user. */
  updateExistingOnly?: true;
  at: Date;
};

/**
 * Creates or changes a user. A time zone in the change must be valid.
 *
 * @returns false if the user does not exist and must not be created
 * @throws ServiceError DATA_VALUE_INVALID, before anything is written
 */
export async function upsertUser(tx: Transaction, command: UpsertUserCommand): Promise<boolean> {
  if (Object.keys(command.attributes).length > 0)
    requireZone(command.attributes, await findZoneAttribute(tx, command.workspaceId));
  return storeUser(tx, command);
}

/** @throws ServiceError DATA_VALUE_INVALID */
export function requireZone(attributes: Attributes, zoneAttribute: string): void {
  const fault = zoneAttributeFault(attributes, zoneAttribute);
  if (fault) throw new ServiceError('DATA_VALUE_INVALID', { field: fault.attribute, reason: fault.reason });
}

/**
 * Creates or changes a user, with the identifiers that follow from the attributes, in the caller's transaction. The user's row
 * is locked first, so changes of one user run one after the other.
 *
 * @returns false if the user does not exist and must not be created
 */
export async function storeUser(tx: Transaction, command: UpsertUserCommand): Promise<boolean> {
  const { workspaceId, customerId, at } = command;
  const user = command.updateExistingOnly
    ? await lockUserOrRetained(tx, { workspaceId, customerId })
    : await lockOrMakeUser(tx, { workspaceId, customerId, at });
  if (!user) return false;
  const kept = command.unset === undefined ? user.attributes : withoutUnset(user.attributes, command.unset);
  const attributes = mergeAttributes(kept, command.attributes);
  await setUserAttributes(tx, { workspaceId, ...user, attributes, at });
  const before = identifiersOf(user.attributes);
  const after = identifiersOf(attributes);
  await deleteIdentifiers(tx, { workspaceId, ...user, identifiers: without(before, after) });
  await insertIdentifiers(tx, { workspaceId, ...user, identifiers: without(after, before) });
  return true;
}

export function without(identifiers: Identifier[], others: Identifier[]): Identifier[] {
  const keyOf = (identifier: Identifier): string =>
    JSON.stringify([identifier.attribute, identifier.type, identifier.value]);
  const known = new Set(others.map(keyOf));
  return identifiers.filter((identifier) => !known.has(keyOf(identifier)));
}

type Named = { workspaceId: string; customerId: string };

// A retained user may itself be merged between the look-up and the lock; three times in a row is not an accident.
const maxLooks = 3;

/** Locks the user that a customer id refers to: its own, or the one it was merged into. */
export async function lockUserOrRetained(tx: Transaction, named: Named): Promise<LockedUser | undefined> {
  return (await lockUser(tx, named)) ?? lockRetained(tx, named);
}

/** Does the same, and creates a missing user. */
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

/** Locks the user that a caller named by customer id or by id. */
export async function lockIdentified(
  tx: Transaction,
  { workspaceId, identity }: { workspaceId: string; identity: UserIdentity },
): Promise<LockedUser | undefined> {
  if (identity.kind === 'customer-id') return lockUserOrRetained(tx, { workspaceId, customerId: identity.value });
  const found = isId(identity.value) ? await findUserById(tx, { workspaceId, id: identity.value }) : undefined;
  return found && lockUserByKey(tx, { workspaceId, ...found });
}

export type MergeUsersCommand = {
  workspaceId: string;
  /** Customer ids; the first one ends, the second gets everything. */
  pairs: { merged: string; retained: string }[];
  at: Date;
};

/**
 * Merges users in the given order, all in the caller's transaction: devices, attributes (the retained user's win), identifiers,
 * memberships, events, and the ledger. The merged customer id refers to the retained user from then on, so a repeat changes
 * nothing (docs/decisions/0012).
 *
 * Users are locked first, in the order of their keys. A merged id that referred to another user before is locked after them; if
 * this deadlocks, the database aborts the work and it is retried.
 *
 * @throws ServiceError DATA_USER_NOT_FOUND, DATA_VALUE_INVALID for a user who is to be deleted
 */
export async function mergeUsers(tx: Transaction, { workspaceId, pairs, at }: MergeUsersCommand): Promise<void> {
  const customerIds = pairs.flatMap(({ merged, retained }) => [merged, retained]);
  await lockUsersInOrder(tx, { workspaceId, customerIds });
  for (const [index, pair] of pairs.entries()) {
    const [from, to] = [
      await lockUserOrRetained(tx, { workspaceId, customerId: pair.merged }),
      await lockUserOrRetained(tx, { workspaceId, customerId: pair.retained }),
    ];
    if (!from) throw new ServiceError('DATA_USER_NOT_FOUND', { field: `merge_data[${index}].merged_user` });
    if (!to) throw new ServiceError('DATA_USER_NOT_FOUND', { field: `merge_data[${index}].retained_user` });
    if (from.userId === to.userId) continue;
    await mergePair(tx, { workspaceId, from, to, at });
  }
}

export type LinkUserCommand = {
  workspaceId: string;
  customerId: string;
  /** Names that the user may have had before; the first one that a user has counts. */
  earlierIds: readonly string[];
  /** Refers to the user from now on, even if no user has it yet. */
  alias?: string;
  at: Date;
};

/**
 * Merges the user with an earlier name into a user, in the caller's transaction. A name that was merged before stays with its user: the
 * next person who signs in on a device must not become one with the previous one.
 *
 * @throws ServiceError DATA_VALUE_INVALID for a user who is to be deleted
 */
export async function linkUser(tx: Transaction, command: LinkUserCommand): Promise<void> {
  const { workspaceId, customerId, earlierIds, alias, at } = command;
  const retained = await lockOrMakeUser(tx, { workspaceId, customerId, at });
  let merged: LockedUser | undefined;
  for (const earlierId of earlierIds) merged ??= await lockUser(tx, { workspaceId, customerId: earlierId });
  if (!merged && alias !== undefined && !(await findRetainedUser(tx, { workspaceId, customerId: alias })))
    merged = await lockOrMakeUser(tx, { workspaceId, customerId: alias, at });
  if (!merged || merged.userId === retained.userId) return;
  await mergePair(tx, { workspaceId, from: merged, to: retained, at });
}

type Pair = { workspaceId: string; from: LockedUser; to: LockedUser; at: Date };

async function mergePair(tx: Transaction, { workspaceId, from, to, at }: Pair): Promise<void> {
  for (const user of [from, to]) {
    if (await isErasurePending(tx, { workspaceId, ...user }))
      throw new ServiceError('DATA_VALUE_INVALID', {
        field: 'merge_data',
        reason: 'names a user who is to be deleted',
      });
  }
  const merge = { workspaceId, from, to };
  await deleteClashingDevices(tx, merge);
  const left = await listDevicesOfUser(tx, { workspaceId, ...from });
  const devices = left.map(({ id }) => ({ from: id, to: makeId(at) }));
  await moveDevices(tx, { ...merge, devices });
  await moveEvents(tx, { ...merge, devices });
  await moveConversions(tx, merge);
  await moveDeliveries(tx, { ...merge, devices });
  await moveTriggers(tx, merge);
  await moveJourneys(tx, { ...merge, at });
  await moveUserMessages(tx, merge);
  await moveTopicChoices(tx, merge);
  await moveInboxMessages(tx, merge);
  await moveMemberships(tx, merge);
  await moveInstallations(tx, merge);
  await deleteIdentifiersOfUser(tx, { workspaceId, ...from });
  await deleteUser(tx, { workspaceId, ...from });
  await insertMergedUser(tx, { ...merge, customerId: from.customerId, at });
  const attributes = { ...from.attributes, ...to.attributes };
  await setUserAttributes(tx, { workspaceId, ...to, attributes, at });
  await deleteIdentifiersOfUser(tx, { workspaceId, ...to });
  await insertIdentifiers(tx, { workspaceId, ...to, identifiers: identifiersOf(attributes) });
  await insertIdentifiersOfDevices(tx, { workspaceId, ...to });
}

export type ExportUsersQuery = {
  workspaceId: string;
  identities: UserIdentity[];
  /** Only these attributes; undefined means all. */
  fields: string[] | undefined;
};

export type { ExportedUser };

/** Returns the requested users, in the order of their identities; undefined where there is none. */
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

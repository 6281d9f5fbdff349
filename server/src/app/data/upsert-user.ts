import { identifiersOf } from '../../domain/users/identifier.ts';
import type { Identifier } from '../../domain/users/identifier.ts';
import { ServiceError } from '../../domain/errors.ts';
import { mergeAttributes, zoneAttributeFault } from '../../domain/users/user-attributes.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import type { Transaction } from '../../storage/database.ts';
import { deleteIdentifiers, insertIdentifiers } from '../../storage/users/identifiers.ts';
import { findZoneAttribute } from '../../storage/installation/workspaces.ts';
import { setUserAttributes } from '../../storage/users/users.ts';
import { lockOrMakeUser, lockUserOrRetained } from './find-user.ts';

export type UpsertUserCommand = {
  workspaceId: string;
  customerId: string;
  /** A value replaces, `null` removes. */
  attributes: Attributes;
  /** Leave an unknown customer unknown. */
  updateExistingOnly?: true;
  at: Date;
};

/**
 * Makes or changes a user whose time zone, if the change names one, is a zone.
 *
 * @returns false when the user does not exist and was not to be made
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
 * Makes or changes a user, with the identifiers that follow from the attributes, in the caller's transaction. The
 * user's row is locked first, so two changes of one user follow each other.
 *
 * @returns false when the user does not exist and was not to be made
 */
export async function storeUser(tx: Transaction, command: UpsertUserCommand): Promise<boolean> {
  const { workspaceId, customerId, at } = command;
  const user = command.updateExistingOnly
    ? await lockUserOrRetained(tx, { workspaceId, customerId })
    : await lockOrMakeUser(tx, { workspaceId, customerId, at });
  if (!user) return false;
  const attributes = mergeAttributes(user.attributes, command.attributes);
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

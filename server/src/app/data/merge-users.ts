import { identifiersOf } from '../../domain/users/identifier.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { Transaction } from '../../storage/database.ts';
import { listDevicesOfUser } from '../../storage/devices/devices.ts';
import { deleteClashingDevices, moveDevices } from '../../storage/devices/moved-devices.ts';
import { isErasurePending } from '../../storage/users/erasures.ts';
import {
  deleteIdentifiersOfUser,
  insertIdentifiers,
  insertIdentifiersOfDevices,
} from '../../storage/users/identifiers.ts';
import {
  insertMergedUser,
  moveConversions,
  moveDeliveries,
  moveEvents,
  moveMemberships,
} from '../../storage/users/merged-users.ts';
import { moveTriggers } from '../../storage/triggers/triggers-of-users.ts';
import { moveUserMessages } from '../../storage/users/user-messages.ts';
import { lockUsersInOrder } from '../../storage/users/users-in-order.ts';
import { deleteUser, setUserAttributes } from '../../storage/users/users.ts';
import type { LockedUser } from '../../storage/users/users.ts';
import { lockUserOrRetained } from './find-user.ts';

export type MergeUsersCommand = {
  workspaceId: string;
  /** Customer ids; the first ends, the second gets everything. */
  pairs: { merged: string; retained: string }[];
  at: Date;
};

/**
 * Merges users in the order given, all in the caller's transaction: devices, attributes (the retained user's win),
 * identifiers, memberships, events, and the ledger. The merged customer id means the retained user from then on, so a
 * repeat changes nothing (docs/decisions/0012).
 *
 * Users are locked first, in the order of their keys; a merged id that stood for another user before is locked after
 * them, and a circle that this makes is broken by the database and tried again.
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
  await moveUserMessages(tx, merge);
  await moveMemberships(tx, merge);
  await deleteIdentifiersOfUser(tx, { workspaceId, ...from });
  await deleteUser(tx, { workspaceId, ...from });
  await insertMergedUser(tx, { ...merge, customerId: from.customerId, at });
  const attributes = { ...from.attributes, ...to.attributes };
  await setUserAttributes(tx, { workspaceId, ...to, attributes, at });
  await deleteIdentifiersOfUser(tx, { workspaceId, ...to });
  await insertIdentifiers(tx, { workspaceId, ...to, identifiers: identifiersOf(attributes) });
  await insertIdentifiersOfDevices(tx, { workspaceId, ...to });
}

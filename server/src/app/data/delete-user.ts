import { createHash } from 'node:crypto';
import type { UserIdentity } from '../../domain/users/user-identity.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { Transaction } from '../../storage/database.ts';
import { insertErasure } from '../../storage/users/erasures.ts';
import { lockIdentified } from './find-user.ts';

export type DeleteUserCommand = { workspaceId: string; identity: UserIdentity; delayHours: number; at: Date };

/**
 * Writes down that a user is to be erased, after the delay; the job erase-people does it. A user whose deletion is
 * asked for again keeps the first date. The user's row is locked, so that no merge takes it away meanwhile.
 *
 * @throws ServiceError DATA_USER_NOT_FOUND
 */
export async function deleteUser(tx: Transaction, command: DeleteUserCommand): Promise<void> {
  const { workspaceId, at, delayHours } = command;
  const user = await lockIdentified(tx, command);
  if (!user) throw new ServiceError('DATA_USER_NOT_FOUND', { field: 'identity_value' });
  await insertErasure(tx, {
    id: makeId(at),
    workspaceId,
    bucket: user.bucket,
    userId: user.userId,
    customerDigest: customerDigest(workspaceId, user.customerId),
    at,
    dueAt: new Date(at.getTime() + delayHours * 3_600_000),
  });
}

/** The digest by which somebody who knows a customer id finds the proof of its deletion. */
export function customerDigest(workspaceId: string, customerId: string): Buffer {
  return createHash('sha256').update(`${workspaceId}\0${customerId}`, 'utf8').digest();
}

import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Transaction, Database } from '../../storage/database.ts';
import { insertErasure, cancelErasure as deleteErasure } from '../../storage/users/erasures.ts';
import { findUserRecord } from '../../storage/users/user-records.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';
import { lockIdentified } from './users.ts';

export type DeleteUserCommand = { workspaceId: string; identity: UserIdentity; delayHours: number; at: Date };

/**
 * Schedules the erasure of a user after the delay; the job erase-people does it. A repeated request keeps the first date. The
 * user's row is locked, so that no merge removes it meanwhile.
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

/** Returns the digest that finds the proof of a deletion, for a caller who knows the customer id. */
export function customerDigest(workspaceId: string, customerId: string): Buffer {
  return createHash('sha256').update(`${workspaceId}\0${customerId}`, 'utf8').digest();
}

/**
 * Cancels a deletion that has not begun, no matter who requested it; the same user may be erased again later.
 *
 * @returns the id of the cancelled erasure
 * @throws ServiceError NOT_FOUND, also if no erasure is pending
 */
export async function cancelErasure(
  { database, clock }: { database: Database; clock: Clock },
  { actor, workspaceId, userId }: { actor: Actor; workspaceId: string; userId: string },
): Promise<string> {
  return inTransaction(database, async (tx) => {
    const user = await findUserRecord(tx, { workspaceId, id: userId });
    const erasureId = user && (await deleteErasure(tx, { workspaceId, bucket: user.bucket, userId }));
    if (erasureId === undefined) throw new ServiceError('NOT_FOUND');
    const line = { actor, workspaceId, action: 'person.erase-cancel' as const, object: { id: erasureId } };
    await audit(tx, { ...line, at: clock.realNow() });
    return erasureId;
  });
}

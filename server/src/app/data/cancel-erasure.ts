import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { cancelErasure as deleteErasure } from '../../storage/users/erasures.ts';
import { findUserRecord } from '../../storage/users/user-records.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';

/**
 * Takes back a deletion, whoever asked for it, as long as it has not begun; the same user may be erased again later.
 *
 * @returns the id of what was taken back
 * @throws ServiceError NOT_FOUND, also when nothing waits
 */
export async function cancelErasure(
  { database, clock }: { database: Database; clock: Clock },
  { by, workspaceId, userId }: { by: Actor; workspaceId: string; userId: string },
): Promise<string> {
  return inTransaction(database, async (tx) => {
    const user = await findUserRecord(tx, { workspaceId, id: userId });
    const erasureId = user && (await deleteErasure(tx, { workspaceId, bucket: user.bucket, userId }));
    if (erasureId === undefined) throw new ServiceError('NOT_FOUND');
    const line = { actor: by, workspaceId, action: 'person.erase-cancel' as const, object: { id: erasureId } };
    await audit(tx, { ...line, at: clock.realNow() });
    return erasureId;
  });
}

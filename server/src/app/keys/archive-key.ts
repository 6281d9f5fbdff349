import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { archiveApiKey, findApiKey } from '../../storage/keys/api-keys.ts';

/**
 * Archives a key, for good. It and all of its tokens fail from the commit on, on every node (decision D14). Archiving
 * twice changes nothing.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function archiveKey(
  { database }: { database: Database },
  { workspaceId, keyId, at }: { workspaceId: string; keyId: string; at: Date },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    if (await archiveApiKey(tx, { workspaceId, id: keyId, at })) return;
    if (!(await findApiKey(tx, { workspaceId, id: keyId }))) throw new ServiceError('NOT_FOUND');
  });
}

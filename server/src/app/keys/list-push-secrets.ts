import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { isWorkspaceId } from '../../domain/tokens/workspace-id.ts';
import type { Queryable } from '../../storage/database.ts';
import { listActiveApiKeys } from '../../storage/keys/api-keys.ts';

export type PushSecret = { keyId: string; name: string; secret: string; lastUsedAt: Date | null };

/**
 * The active push keys of a workspace, readable: any of them may have signed a request. Unknown workspaces have none.
 *
 * @throws DecryptionError when a row was changed or moved, or the master key is another one
 */
export async function listPushSecrets(
  { database, encryption }: { database: Queryable; encryption: Encryption },
  workspaceId: string,
): Promise<PushSecret[]> {
  if (!isWorkspaceId(workspaceId)) return [];
  const keys = await listActiveApiKeys(database, { workspaceId, kind: 'push' });
  return keys.map((key) => ({
    keyId: key.id,
    name: key.name,
    lastUsedAt: key.lastUsedAt,
    secret: encryption.decrypt(key.encryptedSecret!, encryptionContext.pushKey(key)).toString('utf8'),
  }));
}

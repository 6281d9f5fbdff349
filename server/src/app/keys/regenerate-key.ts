import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../domain/errors.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Random } from '../../domain/tokens/secret.ts';
import { makeSecret } from '../../domain/tokens/secret.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { findApiKey, replaceApiKeySecret } from '../../storage/keys/api-keys.ts';
import { storedSecret } from './stored-secret.ts';

/**
 * Generates a new secret for a key and returns it, once. The old value and all tokens issued under it are invalid from
 * the commit on, on every node (decision D14).
 *
 * @throws ServiceError NOT_FOUND, also for an archived key
 */
export async function regenerateKey(
  { database, encryption }: { database: Database; encryption: Encryption },
  command: { workspaceId: string; keyId: string; random?: Random },
): Promise<{ key: ApiKey; secret: string }> {
  const id = { workspaceId: command.workspaceId, id: command.keyId };
  return await inTransaction(database, async (tx) => {
    const old = await findApiKey(tx, id);
    if (!old) throw new ServiceError('NOT_FOUND');
    const secret = makeSecret(old.kind, command.random ?? randomBytes);
    const key = await replaceApiKeySecret(tx, { ...id, ...storedSecret(encryption, secret, old) });
    if (!key) throw new ServiceError('NOT_FOUND', { detail: 'the key is archived' });
    return { key, secret };
  });
}

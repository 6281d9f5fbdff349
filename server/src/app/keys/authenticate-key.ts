import { hashesEqual, hashSecret, isSecret } from '../../domain/access/keys.ts';
import { encryptionContext } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { isWorkspaceId } from '../../domain/ids.ts';
import type { Queryable } from '../../storage/database.ts';
import { findApiKeyBySecretHash, findDataKey, touchApiKey, listActiveApiKeys } from '../../storage/keys/api-keys.ts';
import type { ApiKey, NumberedKey, PresentedKey } from '../../storage/keys/api-keys.ts';

export type { ApiKey };

export type KeyAuthentication = { outcome: 'ok'; key: NumberedKey } | { outcome: 'unknown' };

export type PresentedCredentials = {
  workspaceId: string;
  secret: string;
  at: Date;
  /** Data center of the called host, if it names one; workspaces of other data centers are unknown (decision D1). */
  dataCenter?: string | undefined;
};

/**
 * Checks a Workspace ID and API key. An unknown workspace, a wrong secret and an archived key cause the same work and the same
 * response, so that a caller cannot distinguish them. The caller checks the key's kind and scopes.
 */
export async function authenticateKey(
  { database }: { database: Queryable },
  { at, ...credentials }: PresentedCredentials,
): Promise<KeyAuthentication> {
  const searched = searchedKey(credentials);
  const found = await findApiKeyBySecretHash(database, searched);
  const verified = verifyKey(found, { ...searched, dataCenter: credentials.dataCenter });
  if (verified.outcome !== 'ok') return verified;
  const { secretHash: _hash, dataCenter: _dataCenter, ...key } = verified.key;
  await noteUse(database, key, at);
  return { outcome: 'ok', key };
}

/** Does the same for a data key alone, which names its workspace. */
export async function authenticateWriteKey(
  { database }: { database: Queryable },
  { secret, dataCenter, at }: Omit<PresentedCredentials, 'workspaceId'>,
): Promise<KeyAuthentication> {
  if (!isSecret('data', secret)) return { outcome: 'unknown' };
  const secretHash = hashSecret(secret);
  const verified = verifyKey(await findDataKey(database, secretHash), { secretHash, dataCenter });
  if (verified.outcome !== 'ok') return verified;
  const { secretHash: _hash, dataCenter: _dataCenter, ...key } = verified.key;
  await noteUse(database, key, at);
  return { outcome: 'ok', key };
}

/** Returns the values to look up a key by. An invalid workspace id becomes an empty one, which matches no workspace and costs the same look-up. */
export function searchedKey({ workspaceId, secret }: Pick<PresentedCredentials, 'workspaceId' | 'secret'>): {
  workspaceId: string;
  secretHash: Buffer;
} {
  return { workspaceId: isWorkspaceId(workspaceId) ? workspaceId : '', secretHash: hashSecret(secret) };
}

/** Checks that the key found by `searchedKey` authenticates the caller. */
export function verifyKey<Key extends Pick<PresentedKey, 'secretHash' | 'archivedAt' | 'dataCenter'>>(
  found: Key | undefined,
  { secretHash, dataCenter }: { secretHash: Buffer; dataCenter: string | undefined },
): { outcome: 'ok'; key: Key } | { outcome: 'unknown' } {
  if (!hashesEqual(found?.secretHash, secretHash) || !found || found.archivedAt) return { outcome: 'unknown' };
  if (dataCenter !== undefined && found.dataCenter !== dataCenter) return { outcome: 'unknown' };
  return { outcome: 'ok', key: found };
}

/** Writes `last_used_at` if the stored one is a minute old; most requests write nothing. */
export async function noteUse(database: Queryable, key: Pick<ApiKey, 'id' | 'lastUsedAt'>, at: Date): Promise<void> {
  if (isUseNoted(key, at)) return;
  await touchApiKey(database, { id: key.id, at });
}

/** True while the stored time, which is exact to the minute, is current. */
export function isUseNoted({ lastUsedAt }: Pick<ApiKey, 'lastUsedAt'>, at: Date): boolean {
  return lastUsedAt !== null && at.getTime() - lastUsedAt.getTime() < 60_000;
}

export type PushSecret = { keyId: string; name: string; secret: string; lastUsedAt: Date | null };

/**
 * Returns the active push keys of a workspace, decrypted: any of them may have signed a request. Unknown workspaces have none.
 *
 * @throws DecryptionError if a row was changed or moved, or the master key is a different one
 */
export async function listPushSecrets(
  deps: { database: Queryable; encryption: Encryption },
  workspaceId: string,
): Promise<PushSecret[]> {
  return (await listPushSecretsOfWorkspaces(deps, [workspaceId])).get(workspaceId) ?? [];
}

/** The same for several workspaces at once; returns those of each that has any. */
export async function listPushSecretsOfWorkspaces(
  { database, encryption }: { database: Queryable; encryption: Encryption },
  ids: readonly string[],
): Promise<Map<string, PushSecret[]>> {
  const workspaceIds = ids.filter(isWorkspaceId);
  if (workspaceIds.length === 0) return new Map();
  const keys = await listActiveApiKeys(database, { workspaceIds, kind: 'push' });
  const ofWorkspaces = Map.groupBy(keys, ({ workspaceId }) => workspaceId);
  return new Map(
    [...ofWorkspaces].map(([workspaceId, own]) => [
      workspaceId,
      own.map((key) => ({
        keyId: key.id,
        name: key.name,
        lastUsedAt: key.lastUsedAt,
        secret: encryption.decrypt(key.encryptedSecret!, encryptionContext.pushKey(key)).toString('utf8'),
      })),
    ]),
  );
}

import { hashesEqual, hashSecret } from '../../domain/tokens/secret.ts';
import { isWorkspaceId } from '../../domain/tokens/workspace-id.ts';
import type { Queryable } from '../../storage/database.ts';
import type { ApiKey } from '../../storage/keys/api-keys.ts';
import { findApiKeyBySecretHash, touchApiKey } from '../../storage/keys/api-keys.ts';

export type { ApiKey };

export type KeyAuthentication = { outcome: 'ok'; key: ApiKey } | { outcome: 'unknown' };

export type PresentedCredentials = {
  workspaceId: string;
  secret: string;
  at: Date;
  /** Data center of the host that was called, if it names one; another one's workspaces are unknown (decision D1). */
  dataCenter?: string | undefined;
};

/**
 * Checks a Workspace ID and API key. An unknown workspace, a wrong secret and an archived key are one answer and the
 * same work, so that neither body nor time tells them apart. The caller checks the key's kind and scopes.
 */
export async function authenticateKey(
  { database }: { database: Queryable },
  { workspaceId, secret, at, dataCenter }: PresentedCredentials,
): Promise<KeyAuthentication> {
  const secretHash = hashSecret(secret);
  // No workspace has an empty id, so an impossible one costs the same look-up.
  const searched = isWorkspaceId(workspaceId) ? workspaceId : '';
  const found = await findApiKeyBySecretHash(database, { workspaceId: searched, secretHash });
  if (!hashesEqual(found?.secretHash, secretHash) || !found || found.archivedAt) return { outcome: 'unknown' };
  if (dataCenter !== undefined && found.dataCenter !== dataCenter) return { outcome: 'unknown' };
  const { secretHash: _hash, dataCenter: _dataCenter, ...key } = found;
  await noteUse(database, key, at);
  return { outcome: 'ok', key };
}

/** Writes `last_used_at` when the stored one is a minute old; most requests write nothing. */
export async function noteUse(database: Queryable, key: Pick<ApiKey, 'id' | 'lastUsedAt'>, at: Date): Promise<void> {
  if (key.lastUsedAt && at.getTime() - key.lastUsedAt.getTime() < 60_000) return;
  await touchApiKey(database, { id: key.id, at });
}

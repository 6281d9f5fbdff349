import type { Clock } from '../../clock.ts';
import { hashesEqual, hashSecret, isSecret } from '../../domain/access/keys.ts';
import { isLoopbackOrigin } from '../../domain/access/installations.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Database } from '../../storage/database.ts';
import { findAppKey } from '../../storage/keys/api-keys.ts';
import { noteUse } from '../keys/authenticate-key.ts';

/** An app that has proved its key: what the workspace allows it. */
export type AppCaller = { workspaceId: string; keyId: string; attributes: readonly string[] };

export type AppAuthenticationDependencies = {
  /** Across workspaces: the key names its workspace. */
  database: Database;
  clock: Clock;
  /** Sites on the developer's machine need not be listed. */
  isSandbox: boolean;
};

export type PresentedAppKey = {
  key: string | undefined;
  /** The origin of the calling site. Apps of phones send none. */
  origin: string | undefined;
  /** Data center of the called host, if it names one (decision D1). */
  dataCenter: string | undefined;
};

/**
 * Checks the key of an app, and for a browser the site. The key is public: it identifies the workspace, and keeps other sites
 * from using its quotas through their visitors' browsers. It proves nothing about a user.
 *
 * @throws ServiceError APP_KEY_UNKNOWN, APP_ORIGIN_REFUSED
 */
export async function authenticateApp(
  { database, clock, isSandbox }: AppAuthenticationDependencies,
  { key, origin, dataCenter }: PresentedAppKey,
): Promise<AppCaller> {
  if (key === undefined || !isSecret('app', key))
    throw new ServiceError('APP_KEY_UNKNOWN', { detail: 'not of the form of an app key' });
  const secretHash = hashSecret(key);
  const found = await findAppKey(database, secretHash);
  if (!hashesEqual(found?.secretHash, secretHash) || !found) throw new ServiceError('APP_KEY_UNKNOWN');
  if (dataCenter !== undefined && found.dataCenter !== dataCenter) throw new ServiceError('APP_KEY_UNKNOWN');
  const { id: keyId, workspaceId, webOrigins, attributes } = found;
  if (origin !== undefined && !webOrigins.includes(origin) && !(isSandbox && isLoopbackOrigin(origin)))
    throw new ServiceError('APP_ORIGIN_REFUSED', { reason: 'its origin is not among web_origins' });
  await noteUse(database, found, clock.now());
  return { workspaceId, keyId, attributes };
}

import type { Clock } from '../clock.ts';
import { defaultAppId } from '../domain/apps.ts';
import type { App } from '../domain/apps.ts';
import { makeCredentialsOfApps } from '../domain/credentials/credentials.ts';
import type { CredentialsOfApps } from '../domain/credentials/credentials.ts';
import type { ProviderCredential, ProviderCredentials } from '../domain/delivery/providers.ts';
import { encryptionContext } from '../domain/crypto/encryption.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import type { Logger } from '../log.ts';
import type { ProviderToken, ShareProviderToken } from '../providers/apns/provider-token.ts';
import { listApps } from '../storage/apps.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import {
  listProviderCredentials,
  findProviderToken,
  lockProviderToken,
  upsertProviderToken,
} from '../storage/keys/provider-credentials.ts';
import type { EncryptedCredential } from '../storage/keys/provider-credentials.ts';

export type LoadCredentials = (workspaceId: string) => Promise<CredentialsOfApps>;

// A replaced credential is in use everywhere within this time, without a restart.
const freshMilliseconds = 2_000;
const maxWorkspaces = 1_000;

export type AppsOfWorkspace = { workspaceId: string; apps: readonly App[] };

export type LoadCredentialsDependencies = {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  /** Receives the apps before any message is sent to their devices. */
  onApps?: ((of: AppsOfWorkspace) => Promise<void>) | undefined;
};

/** Reads and decrypts the credentials of a workspace's apps. Results are cached for two seconds. */
export function makeLoadCredentials(deps: LoadCredentialsDependencies): LoadCredentials {
  const { database, encryption, clock, onApps } = deps;
  const remembered = new Map<string, { until: number; credentials: Promise<CredentialsOfApps> }>();
  const load = async (workspaceId: string): Promise<CredentialsOfApps> => {
    const [apps, rows] = await Promise.all([
      listApps(database, workspaceId),
      listProviderCredentials(database, workspaceId),
    ]);
    await onApps?.({ workspaceId, apps });
    const stored = rows.map((row) => ({
      ...{ appId: row.appId, version: row.version },
      credential: openCredential(encryption, row),
    }));
    return makeCredentialsOfApps(apps, stored);
  };
  return (workspaceId) => {
    const now = clock.realNow().getTime();
    const entry = remembered.get(workspaceId);
    if (entry && entry.until > now) return entry.credentials;
    const credentials = load(workspaceId);
    remembered.delete(workspaceId);
    remembered.set(workspaceId, { until: now + freshMilliseconds, credentials });
    credentials.catch(() => remembered.delete(workspaceId));
    if (remembered.size > maxWorkspaces) remembered.delete(remembered.keys().next().value!);
    return credentials;
  };
}

/** Decrypts the credentials of the default apps. */
export function openCredentials(encryption: Encryption, rows: EncryptedCredential[]): ProviderCredentials {
  const credentials: ProviderCredentials = {};
  for (const row of rows) {
    if (row.appId !== defaultAppId) continue;
    Object.assign(credentials, { [row.provider]: openCredential(encryption, row) });
  }
  return credentials;
}

function openCredential(encryption: Encryption, row: EncryptedCredential): ProviderCredential {
  const text = encryption.decrypt(row.encrypted, encryptionContext.providerCredential(row)).toString('utf8');
  return JSON.parse(text) as ProviderCredential;
}

export type ShareProviderTokenDependencies = { database: Database; encryption: Encryption; log: Logger };

/**
 * Shares one provider token across all nodes, encrypted in the database. If the database is unavailable, or the token was
 * encrypted with another master key, a node signs a token itself instead of holding the messages back.
 */
export function makeShareProviderToken({
  database,
  encryption,
  log,
}: ShareProviderTokenDependencies): ShareProviderToken {
  return async ({ key, isUsable, make }) => {
    let made: ProviderToken | undefined;
    try {
      return await inTransaction(database, async (tx) => {
        await lockProviderToken(tx, key);
        const stored = await findProviderToken(tx, key);
        const kept = stored && {
          token: encryption.decrypt(stored.encrypted, encryptionContext.providerToken({ key })).toString('utf8'),
          issuedAt: stored.issuedAt,
        };
        if (kept && isUsable(kept)) return kept;
        made = make();
        await upsertProviderToken(tx, {
          key,
          encrypted: encryption.encrypt(made.token, encryptionContext.providerToken({ key })),
          issuedAt: made.issuedAt,
        });
        return made;
      });
    } catch (error) {
      log.warn({ err: error, key }, 'provider token is not shared');
      return made ?? make();
    }
  };
}

import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps/app.ts';
import type { App } from '../../domain/apps/app.ts';
import { makeCredentialsOfApps } from '../../domain/apps/credentials-of-apps.ts';
import type { CredentialsOfApps } from '../../domain/apps/credentials-of-apps.ts';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { ProviderCredential, ProviderCredentials } from '../../domain/provider-credential.ts';
import type { Encryption } from '../../domain/encryption.ts';
import { listApps } from '../../storage/apps/apps.ts';
import type { Database } from '../../storage/database.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import type { EncryptedCredential } from '../../storage/keys/provider-credentials.ts';

export type LoadCredentials = (workspaceId: string) => Promise<CredentialsOfApps>;

// A replaced credential is in use everywhere this soon, without a restart.
const freshMilliseconds = 2_000;
const maxWorkspaces = 1_000;

export type AppsOfWorkspace = { workspaceId: string; apps: readonly App[] };

export type LoadCredentialsDependencies = {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  /** Is told the apps before anybody sends to their devices. */
  onApps?: ((of: AppsOfWorkspace) => Promise<void>) | undefined;
};

/** Reads and opens the credentials of a workspace's apps, remembered for two seconds. */
export function makeLoadCredentials(deps: LoadCredentialsDependencies): LoadCredentials {
  const { database, encryption, clock, onApps } = deps;
  const remembered = new Map<string, { until: number; credentials: Promise<CredentialsOfApps> }>();
  const load = async (workspaceId: string): Promise<CredentialsOfApps> => {
    const apps = await listApps(database, workspaceId);
    await onApps?.({ workspaceId, apps });
    const rows = await listProviderCredentials(database, workspaceId);
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

/** Those of the default apps. */
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

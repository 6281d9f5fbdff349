import type { Clock } from '../../clock.ts';
import { defaultAppId } from '../../domain/apps/app.ts';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { ProviderCredentials } from '../../domain/provider-credential.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Database } from '../../storage/database.ts';
import { listProviderCredentials } from '../../storage/keys/provider-credentials.ts';
import type { EncryptedCredential } from '../../storage/keys/provider-credentials.ts';

export type LoadCredentials = (workspaceId: string) => Promise<ProviderCredentials>;

// A replaced credential is in use everywhere this soon, without a restart.
const freshMilliseconds = 2_000;
const maxWorkspaces = 1_000;

export type LoadCredentialsDependencies = { database: Database; encryption: Encryption; clock: Clock };

/** Reads and opens a workspace's provider credentials, remembered for two seconds. */
export function makeLoadCredentials({ database, encryption, clock }: LoadCredentialsDependencies): LoadCredentials {
  const remembered = new Map<string, { until: number; credentials: Promise<ProviderCredentials> }>();
  return (workspaceId) => {
    const now = clock.realNow().getTime();
    const entry = remembered.get(workspaceId);
    if (entry && entry.until > now) return entry.credentials;
    const credentials = listProviderCredentials(database, workspaceId).then((rows) =>
      openCredentials(encryption, rows),
    );
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
    const text = encryption.decrypt(row.encrypted, encryptionContext.providerCredential(row)).toString('utf8');
    Object.assign(credentials, { [row.provider]: JSON.parse(text) });
  }
  return credentials;
}

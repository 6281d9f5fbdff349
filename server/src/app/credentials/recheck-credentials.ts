import type { ProviderName } from '../../domain/delivery/provider-name.ts';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { ProviderCredential } from '../../domain/provider-credential.ts';
import { listProviderCredentials, noteCredentialCheck } from '../../storage/keys/provider-credentials.ts';
import type { CredentialDependencies } from './manage-credentials.ts';

/**
 * Asks a provider again that refused: whoever mended the account there need not come here, and what waits is sent. Nobody
 * asked for it, so it is no line of the audit log. An answer that says nothing of the credential is not kept.
 */
export async function recheckCredentials(
  { database, clock, encryption, ask }: Pick<CredentialDependencies, 'database' | 'clock' | 'encryption' | 'ask'>,
  { workspaceId, provider }: { workspaceId: string; provider: ProviderName },
): Promise<void> {
  const rows = await listProviderCredentials(database, workspaceId);
  for (const row of rows.filter((one) => one.provider === provider)) {
    const opened = encryption.decrypt(row.encrypted, encryptionContext.providerCredential(row)).toString('utf8');
    const check = await ask(JSON.parse(opened) as ProviderCredential);
    const { appId, updatedAt } = row;
    if (check.verdict !== 'UNKNOWN')
      await noteCredentialCheck(database, { ...check, workspaceId, provider, appId, updatedAt, at: clock.now() });
  }
}

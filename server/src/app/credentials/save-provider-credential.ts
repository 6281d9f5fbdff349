import { encryptionContext } from '../../domain/encryption-context.ts';
import type { ProviderCredential } from '../../domain/provider-credential.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Queryable } from '../../storage/database.ts';
import { upsertProviderCredential } from '../../storage/keys/provider-credentials.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

/** Seals and stores the credential of one app; an earlier one is replaced. */
export async function saveProviderCredential(
  { encryption }: { encryption: Encryption },
  tx: Queryable,
  input: { workspaceId: string; appId: string; credential: ProviderCredential; at: Date },
): Promise<void> {
  const { workspaceId, appId, credential, at } = input;
  const context = encryptionContext.providerCredential({ workspaceId, provider: credential.provider, appId });
  await upsertProviderCredential(tx, {
    workspaceId,
    provider: credential.provider,
    appId,
    encrypted: encryption.encrypt(JSON.stringify(credential), context),
    summary: summarise(credential),
    simulated: credential.simulated,
    at,
  });
}

/** What may be shown of a credential: never a private key. */
function summarise(credential: ProviderCredential): Record<string, string> {
  switch (credential.provider) {
    case 'fcm':
      return { projectId: credential.projectId, clientEmail: credential.clientEmail };
    case 'apns':
      return {
        teamId: credential.teamId,
        keyId: credential.keyId,
        topic: credential.topic,
        environment: credential.environment,
      };
    case 'webpush':
      return { publicKey: credential.publicKey, subject: credential.subject };
    case 'hms': {
      const { clientId, owner } = credential;
      return { clientId, [owner.kind === 'project' ? 'projectId' : 'huaweiAppId']: owner.id };
    }
    default:
      return unknownCase(credential);
  }
}

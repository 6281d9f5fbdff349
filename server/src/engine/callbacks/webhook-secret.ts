import { randomBytes } from 'node:crypto';
import { encryptionContext } from '../../domain/encryption-context.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Queryable } from '../../storage/database.ts';
import { findWebhookSecret, storeWebhookSecret } from '../../storage/installation/workspaces.ts';

// The Standard Webhooks specification asks for 24 to 64 bytes.
const secretBytes = 32;

export type WebhookSecretDependencies = { database: Queryable; encryption: Encryption };

/**
 * The secret that signs a workspace's callbacks, `whsec_` and base64 (Standard Webhooks). Made when it is first asked
 * for; whichever node stores it first decides for all.
 */
export async function ensureWebhookSecret(
  { database, encryption }: WebhookSecretDependencies,
  workspaceId: string,
): Promise<string> {
  const context = encryptionContext.webhookSecret({ workspaceId });
  let encrypted = await findWebhookSecret(database, workspaceId);
  if (!encrypted) {
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
    await storeWebhookSecret(database, { workspaceId, encrypted: encryption.encrypt(secret, context) });
    encrypted = await findWebhookSecret(database, workspaceId);
  }
  if (!encrypted) throw new Error('There is no workspace of that id to keep a webhook secret.');
  return encryption.decrypt(encrypted, context).toString('utf8');
}

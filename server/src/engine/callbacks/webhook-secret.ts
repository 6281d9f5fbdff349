import { randomBytes } from 'node:crypto';
import type { Seal } from '../../domain/encryption.ts';
import type { Queryable } from '../../storage/pool.ts';
import { findWebhookSecret, storeWebhookSecret } from '../../storage/installation/workspaces.ts';

// The Standard Webhooks specification asks for 24 to 64 bytes.
const secretBytes = 32;

export type WebhookSecretDependencies = { database: Queryable; seal: Seal };

/**
 * The secret that signs a workspace's callbacks, `whsec_` and base64 (Standard Webhooks). Made when it is first asked
 * for; whichever node stores it first decides for all.
 */
export async function ensureWebhookSecret(
  { database, seal }: WebhookSecretDependencies,
  workspaceId: string,
): Promise<string> {
  const context = `webhook-secret:${workspaceId}`;
  let sealed = await findWebhookSecret(database, workspaceId);
  if (!sealed) {
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
    await storeWebhookSecret(database, { workspaceId, sealed: seal.seal(secret, context) });
    sealed = await findWebhookSecret(database, workspaceId);
  }
  if (!sealed) throw new Error('There is no workspace of that id to keep a webhook secret.');
  return seal.open(sealed, context).toString('utf8');
}

import { createHash } from 'node:crypto';
import { messageIdentity } from '../../domain/campaign/message.ts';
import type { Message } from '../../domain/campaign/message.ts';
import type { Platform } from '../../domain/campaign/content.ts';
import type { ProviderCredential } from '../../domain/provider-credential.ts';
import type { Delivery } from './deliver.ts';
import type { Outcome } from './provider.ts';

/** What the provider says of a credential. `unknown`: it could not be asked, or did not answer. */
export type CredentialCheck =
  { kind: 'accepted' } | { kind: 'refused'; reason: string } | { kind: 'unknown'; reason: string };

/**
 * Asks the provider whether it takes a credential, without sending anything to anybody: FCM is asked to validate only,
 * APNs is given a device token that no device has, and refuses that, not us. Browsers' services know no accounts: a VAPID
 * pair is good when it is a pair, which was checked when it was read.
 */
export async function checkCredential(
  { delivery }: { delivery: Pick<Delivery, 'probe'> },
  credential: ProviderCredential,
): Promise<CredentialCheck> {
  if (credential.provider === 'webpush') return { kind: 'accepted' };
  const platform = credential.provider === 'fcm' ? 'ANDROID' : 'IOS';
  const outcome = await delivery.probe({
    message: probeMessage(platform),
    // Bytes that no provider has given out: the digest of a sentence.
    device: {
      deviceId: 'probe',
      platform,
      pushId: createHash('sha256').update('carillon credential check').digest('hex'),
    },
    credentials: { [credential.provider]: credential },
  });
  return verdict(outcome);
}

function verdict(outcome: Outcome): CredentialCheck {
  switch (outcome.kind) {
    case 'accepted':
    case 'gone':
    case 'rejected':
      return { kind: 'accepted' };
    case 'stopped':
      return { kind: 'refused', reason: `${outcome.code}: ${outcome.detail}` };
    case 'wait':
    case 'unreached':
    case 'unknown':
      return { kind: 'unknown', reason: outcome.code };
    default:
      return outcome satisfies never;
  }
}

function probeMessage(platform: Exclude<Platform, 'WEB'>): Message {
  const base = {
    workspaceId: 'probe',
    campaignId: '0'.repeat(24),
    runId: '0'.repeat(24),
    identity: messageIdentity('0'.repeat(24), 'probe'),
    ttlSeconds: 0,
  };
  const content = {
    title: 'Credential check',
    message: 'Not delivered to anybody',
    richContent: [],
    additionalActions: [],
  };
  return platform === 'ANDROID'
    ? { ...base, platform, priority: 'NORMAL', content }
    : { ...base, platform, priority: 5, content: { ...content, enableBadge: false } };
}

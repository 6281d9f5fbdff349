import { createHash } from 'node:crypto';
import type { Platform } from '../domain/content/content.ts';
import { messageIdentity } from '../domain/content/message.ts';
import type { Message } from '../domain/content/message.ts';
import type { CredentialCheck } from '../domain/credentials/checks.ts';
import { providers } from '../domain/delivery/providers.ts';
import type { ProviderCredential } from '../domain/delivery/providers.ts';
import { ProviderKeyError } from '../domain/providers/key-fields.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import { makeDelivery } from './deliver.ts';
import type { Delivery, DeliveryOptions } from './deliver.ts';
import type { Outcome } from './provider.ts';
import { descriptors } from './registry.ts';

/**
 * Checks a credential with its provider without sending anything. Some providers only validate the message. The others get the
 * address of no device, and should reject the address, not the credential. Web Push services have no accounts, so there is no
 * service to ask before a browser has subscribed: a VAPID key is good if its two halves match.
 */
export async function checkCredential(
  { delivery }: { delivery: Pick<Delivery, 'probe'> },
  credential: ProviderCredential,
): Promise<CredentialCheck> {
  const { provider } = credential;
  const { key, platforms, sandbox } = providers[provider];
  if (key.checkAlone) return checkAlone(() => key.checkAlone!(credential));
  const [platform] = platforms;
  const { canValidateOnly } = descriptors[provider];
  const digest = createHash('sha256').update('carillon credential check').digest('hex');
  const outcome = await delivery.probe({
    message: probeMessage(platform),
    // Bytes that no provider has issued: the digest of a sentence. The simulators deliver to any address, so it begins with the
    // mark of an invalid one if the provider would deliver the message.
    device: {
      deviceId: 'probe',
      platform,
      provider,
      pushId: `${canValidateOnly ? 'dead0400' : sandbox.magic.invalid!.start}${digest.slice(8)}`,
    },
    credentials: { [provider]: credential },
  });
  return judge(outcome);
}

function checkAlone(check: () => string): CredentialCheck {
  try {
    return { verdict: 'ACCEPTED', words: check() };
  } catch (error) {
    if (!(error instanceof ProviderKeyError)) throw error;
    return { verdict: 'REFUSED', words: error.message };
  }
}

/** Apple's refusals with status 400 that are about the credential, not about the made-up device. */
const aboutCredential = /^(BadCertificate|BadEnvironmentKeyIdInToken)/;

/** If the provider rejects the made-up device, it accepted the credential. */
function judge(outcome: Outcome): CredentialCheck {
  switch (outcome.kind) {
    case 'accepted':
      return { verdict: 'ACCEPTED', words: 'The provider took the call.' };
    case 'gone':
      return {
        verdict: 'ACCEPTED',
        words: `${outcome.code}, which is about the made-up device, not about the credential.`,
      };
    case 'ambiguous':
      if (outcome.ifDevice === 'wait') return { verdict: 'UNKNOWN', words: wordsOf(outcome) };
      return outcome.ifDevice === 'reject'
        ? { verdict: 'REFUSED', words: wordsOf(outcome) }
        : {
            verdict: 'ACCEPTED',
            words: `${outcome.code}, which is about the made-up device, not about the credential.`,
          };
    case 'rejected':
      return aboutCredential.test(outcome.code)
        ? { verdict: 'REFUSED', words: wordsOf(outcome) }
        : { verdict: 'ACCEPTED', words: `${wordsOf(outcome)}, which is about the made-up message.` };
    case 'stopped':
      return { verdict: 'REFUSED', words: wordsOf(outcome) };
    case 'wait':
    case 'unreached':
    case 'unknown':
      return { verdict: 'UNKNOWN', words: outcome.code };
    default:
      return unknownCase(outcome);
  }
}

function wordsOf({ code, detail }: { code: string; detail: string }): string {
  return detail.includes(code) ? detail : `${code}: ${detail}`;
}

function probeMessage(platform: Platform): Message {
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
    ? {
        ...base,
        platform,
        priority: 'NORMAL',
        content,
        payload: { mode: 'data', pushFrom: 'carillon', dataPrefix: 'svc' },
        isSilent: false,
      }
    : {
        ...base,
        platform: 'IOS',
        priority: 5,
        content: { ...content, enableBadge: false },
        dataPrefix: 'svc',
        isSilent: false,
      };
}

export type AskProvider = (credential: ProviderCredential) => Promise<CredentialCheck>;

// An account's token and one message, each with 10 s to connect and 15 s to get a response, take 50 s at worst. A user who
// waits for a page has given up by then.
const defaultMaxMilliseconds = 20_000;

/**
 * Makes a function that checks a credential with its provider, over a separate connection. It uses no state of another
 * credential of the same name, and keeps none.
 */
export function makeAskProvider(options: DeliveryOptions & { maxMilliseconds?: number }): AskProvider {
  const { maxMilliseconds = defaultMaxMilliseconds } = options;
  return async (credential) => {
    const { simulators } = options.endpoints;
    if (credential.simulated && !simulators)
      return { verdict: 'UNKNOWN', words: 'It leads to the simulators of a sandbox, and none runs.' };
    const delivery = makeDelivery(options);
    const late = Promise.withResolvers<CredentialCheck>();
    const timer = setTimeout(
      () => late.resolve({ verdict: 'UNKNOWN', words: `no answer within ${maxMilliseconds / 1000} seconds` }),
      maxMilliseconds,
    );
    try {
      return await Promise.race([checkCredential({ delivery }, credential), late.promise]);
    } finally {
      clearTimeout(timer);
      // A connection without a response is closed without waiting for it.
      void delivery.close().catch(() => {});
    }
  };
}

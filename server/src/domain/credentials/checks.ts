import type { ProviderName } from '../delivery/providers.ts';
import { findSubjectFault } from './provider-keys.ts';

export type CheckVerdict = 'ACCEPTED' | 'REFUSED' | 'UNKNOWN';

/** A provider's verdict on a credential. `UNKNOWN`: the provider could not be reached, or its response does not say. */
export type CredentialCheck = {
  verdict: CheckVerdict;
  /** In the provider's words, or why there is no response. */
  words: string;
};

/** A stored credential, as far as it may be shown, with its last check. */
type CheckedCredential = {
  provider: ProviderName;
  simulated: boolean;
  summary: Readonly<Record<string, string>>;
  updatedAt: Date;
  checkedAt: Date | null;
  checkVerdict: CheckVerdict | null;
  checkWords: string | null;
};

/**
 * Returns what is known about a stored credential: its last check, unless it has a fault that is certain without asking the
 * provider. A contact that Apple rejects was stored before such contacts were rejected here. Pure.
 */
export function knownCheckOf(credential: CheckedCredential): (CredentialCheck & { at: Date }) | null {
  const { provider, simulated, summary, updatedAt, checkedAt, checkVerdict, checkWords } = credential;
  const isOfBrowsers = provider === 'webpush' && !simulated && summary.subject !== undefined;
  const words = isOfBrowsers ? findSubjectFault(summary.subject!) : undefined;
  if (words !== undefined) return { verdict: 'REFUSED', words, at: checkedAt ?? updatedAt };
  return checkedAt && { verdict: checkVerdict!, words: checkWords!, at: checkedAt };
}

type Checked = CredentialCheck & { provider: ProviderName };

/** Returns what an operator can do about a check. Pure. */
export function adviseOnCheck({ provider, verdict, words }: Checked): string {
  if (verdict === 'ACCEPTED')
    return provider === 'webpush'
      ? 'Give the public key to your web page; browsers that subscribed with another key stay silent until they subscribe anew.'
      : 'Nothing to do.';
  if (verdict === 'UNKNOWN' && words.startsWith('PROXY_'))
    return 'The provider was not asked. Look at the outgoing proxy and at CARILLON_OUTGOING_PROXY, then check again.';
  if (verdict === 'UNKNOWN')
    return 'Look whether this machine reaches the provider (firewall, proxy, DNS), then check again.';
  const known = advice.find(([provider_, pattern]) => provider_ === provider && pattern.test(words));
  return known?.[2] ?? 'Make a new key with the provider and replace this one.';
}

const advice: [provider: string, words: RegExp, todo: string][] = [
  [
    'fcm',
    /^TOKEN_REFUSED/,
    'Google does not know this key: was it deleted, or is the clock of this machine wrong? Make a new key of the service account and replace this one.',
  ],
  [
    'fcm',
    /^(PERMISSION_DENIED|SERVICE_DISABLED)/,
    'Turn on the Firebase Cloud Messaging API of the project and give the service account the role "Firebase Cloud Messaging API Admin".',
  ],
  ['fcm', /^(NOT_FOUND|404)/, 'There is no such Firebase project: compare project_id in the key file.'],
  ['fcm', /^THIRD_PARTY_AUTH_ERROR/, 'Put the APNs key into the Firebase project, or send to iOS through APNs.'],
  [
    'apns',
    /^InvalidProviderToken/,
    'Apple does not know this key of this team: compare key id and team id with the developer account, and the file with the key.',
  ],
  [
    'apns',
    /^(BadEnvironmentKeyIdInToken|BadCertificateEnvironment)/,
    'The key is of the other environment: production or sandbox.',
  ],
  [
    'apns',
    /^(TopicDisallowed|BadTopic|MissingTopic|UnrelatedKeyIdInToken)/,
    'The key does not send to this app: compare the bundle id, and whether the key is limited to other apps.',
  ],
  [
    'hms',
    /^HMS_TOKEN_REFUSED/,
    'Huawei does not know this client: compare client id and secret with those of the app or project in AppGallery Connect.',
  ],
  [
    'hms',
    /^(80300002|HMS_40[34])/,
    'The client may not send for this project or app: turn on Push Kit in AppGallery Connect, and compare the id.',
  ],
  [
    'webpush',
    /^The subject/,
    'Connect Web Push with another contact and no keys: the keys stay, and so do the browsers that subscribed with them.',
  ],
  ['webpush', /./, 'Connect a pair whose public key is made of the private one.'],
];

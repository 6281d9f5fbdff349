import { fcmMessagesPerMinute } from '../limits/delivery.ts';
import { maxKeyFile, ProviderKeyError, readKeyFile, readPem, requirePrivateKey } from './key-fields.ts';
import type { KeyFields } from './key-fields.ts';
import { sharedAdvice } from './provider-facts.ts';
import type { ProviderFacts } from './provider-facts.ts';

/** The service account of a Firebase project, as it is stored, encrypted. */
export type FcmCredential = {
  provider: 'fcm';
  projectId: string;
  clientEmail: string;
  privateKeyId: string;
  /** PKCS#8 PEM of the service account. */
  privateKey: string;
  /** The only package that messages are for. It comes from the app and is not stored here. */
  restrictedPackage?: string;
  simulated: boolean;
};

const fields = {
  keyFile: {
    kind: 'file',
    label: 'Key file of the service account',
    hint: 'Firebase console: Project settings, Service accounts, Generate new private key. Paste the JSON or choose the file.',
    accept: '.json,application/json',
    option: { flags: '--file <path>', description: 'key file (JSON)' },
  },
} as const satisfies KeyFields;

const { gone, suspected } = sharedAdvice;

/** Firebase Cloud Messaging, HTTP v1. */
export const fcm = {
  platforms: ['ANDROID', 'IOS', 'WEB'],
  usualOn: ['ANDROID'],
  names: { inLists: 'FCM (Android)', short: 'FCM', inSentences: 'FCM', ofAddress: 'FCM token' },
  counter: 'ANDROID',
  address: {},
  hasInstallationIds: true,
  key: {
    description: 'A service account of a Firebase project',
    examples: ['--file service-account.json', '--app courier --file couriers.json'],
    fields,
    parse: ({ keyFile }) => parseFcmKeyFile(keyFile),
  },
  summarise: ({ projectId, clientEmail }) => ({ projectId, clientEmail }),
  summaryNames: { projectId: 'Project', clientEmail: 'Service account' },
  accountName: ({ projectId }) => projectId,
  accountId: ({ projectId = '' }) => projectId,
  limits: { messagesPerMinute: fcmMessagesPerMinute },
  forApp: (credential, { restrictsPackage, identifier }) =>
    restrictsPackage ? { ...credential, restrictedPackage: identifier } : credential,
  evidence: {
    scope: ({ platform, credential }) => [platform, credential.restrictedPackage ?? ''],
    // Firebase lacks the key for Apple or for browsers; its Android apps can still be reached.
    codesOfPlatform: ['THIRD_PARTY_AUTH_ERROR'],
  },
  advice: {
    onRefusedKey: [
      [
        /^TOKEN_REFUSED/,
        'Google does not know this key: was it deleted, or is the clock of this machine wrong? Make a new key of the service account and replace this one.',
      ],
      [
        /^(PERMISSION_DENIED|SERVICE_DISABLED)/,
        'Turn on the Firebase Cloud Messaging API of the project and give the service account the role "Firebase Cloud Messaging API Admin".',
      ],
      [/^(NOT_FOUND|404)/, 'There is no such Firebase project: compare project_id in the key file.'],
      [/^THIRD_PARTY_AUTH_ERROR/, 'Put the APNs key into the Firebase project, or send to iOS through APNs.'],
    ],
    onFailure: {
      UNREGISTERED: gone,
      INVALID_ARGUMENT: `FCM refused a field of the message, or the token is malformed; the delivery log has its answer. If no device got the message, correct the message. ${suspected}`,
      SENDER_ID_MISMATCH: `These tokens belong to another Firebase project. If it is all of them, give the workspace that project’s service account. ${suspected}`,
      QUOTA_EXCEEDED: 'Give the campaign a throttle, or ask Google for more than 600,000 messages a minute.',
      UNAVAILABLE: 'FCM was not available until the message’s time was over. Give it a longer time to live.',
      INTERNAL: 'FCM had a fault until the message’s time was over. Give it a longer time to live.',
      FCM_503: 'FCM was not available until the message’s time was over. Give it a longer time to live.',
      FCM_500: 'FCM had a fault until the message’s time was over. Give it a longer time to live.',
      THIRD_PARTY_AUTH_ERROR:
        'Firebase could not use its key for Apple or for browsers. If all of these devices get this answer, upload a valid key in the Firebase console, under Cloud Messaging. A few may get it now and then: nothing to do, the next campaign reaches them.',
    },
  },
  // Its own codes, and those that its classification gives to a bare status. Apple and browsers' services use other codes.
  codes: {
    pattern: new RegExp(
      '^(FCM_.*|UNREGISTERED|INVALID_ARGUMENT|SENDER_ID_MISMATCH|QUOTA_EXCEEDED|UNAVAILABLE|INTERNAL|' +
        'THIRD_PARTY_AUTH_ERROR|TOKEN_REFUSED|UNAUTHENTICATED|PERMISSION_DENIED|NOT_FOUND)$',
    ),
    prefix: 'FCM_',
  },
  sandbox: {
    makeCredential: ({ name, keys }) => ({
      provider: 'fcm',
      projectId: `carillon-${name}`.slice(0, 30),
      clientEmail: `sender@carillon-${name}.iam.gserviceaccount.com`,
      privateKeyId: `key-${name}`,
      privateKey: keys.rsa,
      simulated: true,
    }),
    magic: {
      gone: { start: 'magic-gone', answer: 'FCM 404 UNREGISTERED' },
      invalid: { start: 'magic-invalid', answer: 'FCM 400 on message.token' },
      rejected: { start: 'magic-rejected', answer: 'FCM 400 on the payload' },
      busy: { start: 'magic-busy', answer: 'FCM 503' },
      limited: { start: 'magic-limited', answer: 'FCM 429 QUOTA_EXCEEDED that names the device' },
      sporadic: {
        start: 'magic-sporadic',
        answer: 'FCM 401 THIRD_PARTY_AUTH_ERROR twice, then the message is accepted',
      },
      malformed: { start: 'magic-malformed', answer: 'FCM 400 INVALID_ARGUMENT without fieldViolations' },
      silent: { start: 'magic-silent' },
    },
    fieldAnswers: {
      limited: {
        scope: 'device',
        answer:
          '429 `QUOTA_EXCEEDED` with a `QuotaFailure` that names the device; for some devices with `Retry-After: 1`',
      },
      'limited-bare': {
        scope: 'device',
        answer: '429 `QUOTA_EXCEEDED` that does not say which limit was exceeded',
      },
      'project-limited': {
        scope: 'account',
        answer: '429 `RATE_LIMIT_EXCEEDED` of the project, without an `FcmError`',
      },
      sporadic: {
        scope: 'device',
        answer: '401 `THIRD_PARTY_AUTH_ERROR`, as a few iPhones get while others are accepted',
      },
      malformed: {
        scope: 'device',
        answer: '400 `INVALID_ARGUMENT` without `fieldViolations`, for a malformed token',
      },
    },
  },
} as const satisfies ProviderFacts<FcmCredential, typeof fields>;

/** Returns what a text that is not JSON seems to be, for its sender. */
function hintOf(text: string): string {
  if (text.trimStart().startsWith('-----BEGIN')) return ': it is a private key alone; give the whole JSON file';
  if (/^\s*eyJ/.test(text)) return ': it looks like base64; decode it first';
  if (/\{\\+"/.test(text)) return ': its quotes are escaped; give the file as it was downloaded';
  return '';
}

/**
 * Parses a service account's key file (JSON, as Google's console provides it). Its `token_uri` is not used, because the
 * deployment decides where tokens are fetched (fault 3.9). A file that names another host is rejected, so that a forged
 * file is noticed.
 *
 * @throws ProviderKeyError
 */
export function parseFcmKeyFile(given: string): FcmCredential {
  const text = readKeyFile(given);
  if (text.length > maxKeyFile) throw new ProviderKeyError('The key file is too long to be a service account key.');
  let file: Record<string, unknown>;
  try {
    file = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new ProviderKeyError(`The key file is not JSON${hintOf(text)}.`);
  }
  if (file === null || typeof file !== 'object' || file.type !== 'service_account')
    throw new ProviderKeyError('The key file is not that of a service account (type "service_account").');
  const read = (name: string, pattern: RegExp): string => {
    const value = file[name];
    if (typeof value !== 'string' || !pattern.test(value))
      throw new ProviderKeyError(`The key file has no usable ${name}.`);
    return value;
  };
  const tokenUri = file.token_uri;
  if (tokenUri !== undefined && !/^https:\/\/(oauth2|accounts)\.(googleapis|google)\.com\//.test(String(tokenUri)))
    throw new ProviderKeyError("The key file's token_uri is not Google's.");
  const privateKey = readPem(read('private_key', /^-----BEGIN PRIVATE KEY-----/));
  requirePrivateKey(privateKey, 'rsa');
  return {
    provider: 'fcm',
    projectId: read('project_id', /^[a-z0-9:.-]{4,64}$/),
    clientEmail: read('client_email', /^[^\s@]{1,100}@[^\s@]{1,200}$/),
    privateKeyId: read('private_key_id', /^[A-Za-z0-9_-]{1,100}$/),
    privateKey,
    simulated: false,
  };
}

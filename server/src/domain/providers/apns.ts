import type { ApnsEnvironment } from '../apps.ts';
import { maxKeyFile, ProviderKeyError, readPem, requirePrivateKey } from './key-fields.ts';
import type { KeyFields, KeyOf } from './key-fields.ts';
import { sharedAdvice } from './provider-facts.ts';
import type { ProviderFacts } from './provider-facts.ts';

/** A key of Apple's push service for one app, as it is stored, encrypted. */
export type ApnsCredential = {
  provider: 'apns';
  teamId: string;
  keyId: string;
  /** PKCS#8 PEM (.p8), P-256. */
  privateKey: string;
  /** Bundle id, sent as `apns-topic`. */
  topic: string;
  environment: ApnsEnvironment;
  simulated: boolean;
};

const fields = {
  privateKey: {
    kind: 'file',
    label: 'Key (.p8)',
    hint: 'Apple developer account: Keys, with Apple Push Notifications service. Paste the file or choose it.',
    accept: '.p8,.pem',
    option: { flags: '--file <path>', description: 'key file (.p8)' },
  },
  keyId: {
    kind: 'text',
    label: 'Key id',
    hint: 'Ten letters and digits',
    option: { flags: '--key <id>', description: 'key id' },
  },
  teamId: {
    kind: 'text',
    label: 'Team id',
    hint: 'Ten letters and digits',
    option: { flags: '--team <id>', description: 'team id' },
  },
  topic: {
    kind: 'text',
    label: 'Bundle id',
    hint: 'For example com.example.shop',
    option: {
      flags: '--topic <bundle>',
      description: 'bundle id of the app; default with --app: its identifier',
      fromApp: 'identifier',
      missing: 'Give --topic, or --app to use the bundle id of that app.',
    },
  },
  environment: {
    kind: 'choice',
    label: 'Environment',
    hint: 'Builds from Xcode use the sandbox',
    choices: { production: 'Production', sandbox: 'Sandbox' },
    option: {
      flags: '--environment <name>',
      description: "Apple's service; default: that of --app, or production",
      fromApp: 'environment',
      otherwise: 'production',
    },
  },
} as const satisfies KeyFields;

export type ApnsKey = KeyOf<typeof fields>;

const { gone, suspected, tooLarge, wrongCredential } = sharedAdvice;

/** Apple's push service. */
export const apns = {
  platforms: ['IOS'],
  usualOn: ['IOS'],
  names: { inLists: 'APNs (iOS)', short: 'APNs', inSentences: 'APNs', ofAddress: 'APNs token' },
  counter: 'IOS',
  address: {
    pattern: /^[0-9a-fA-F]{16,200}$/,
    fault: 'is not an APNs device token (hexadecimal)',
    isCaseless: true,
  },
  key: {
    description: "A key of Apple's push service",
    examples: ['--file AuthKey.p8 --team TEAM123456 --key KEY1234567 --topic com.example.app'],
    fields,
    parse: parseApnsKey,
    findAppFault({ topic, environment }, app) {
      if (topic === app.identifier && environment === app.environment) return undefined;
      return `The app ${app.appId} is ${app.identifier} in ${app.environment}, not ${topic} in ${environment}`;
    },
  },
  summarise: ({ teamId, keyId, topic, environment }) => ({ teamId, keyId, topic, environment }),
  summaryNames: { teamId: 'Team id', keyId: 'Key id', topic: 'Bundle id', environment: 'Environment' },
  accountName: ({ topic, environment }) => `${topic} (${environment})`,
  accountId: ({ teamId = '' }) => teamId,
  forApp: (credential, { identifier, environment }) => ({
    ...credential,
    topic: identifier,
    environment: environment ?? credential.environment,
  }),
  evidence: {
    scope: ({ credential: { environment, topic } }) => [environment, topic],
    // Apple's keys may be for one environment only, so a refusal never concerns more than the bundle.
    refusesByScope: true,
  },
  advice: {
    onRefusedKey: [
      [
        /^InvalidProviderToken/,
        'Apple does not know this key of this team: compare key id and team id with the developer account, and the file with the key.',
      ],
      [
        /^(BadEnvironmentKeyIdInToken|BadCertificateEnvironment)/,
        'The key is of the other environment: production or sandbox.',
      ],
      [
        /^(TopicDisallowed|BadTopic|MissingTopic|UnrelatedKeyIdInToken)/,
        'The key does not send to this app: compare the bundle id, and whether the key is limited to other apps.',
      ],
    ],
    onFailure: {
      BadDeviceToken: `Development builds have tokens of Apple’s sandbox: compare the environment of the credential with the build of the app. ${suspected}`,
      DeviceTokenNotForTopic: `These tokens belong to another app: compare the bundle id of the credential. ${suspected}`,
      Unregistered: gone,
      ExpiredToken: gone,
      PayloadTooLarge: tooLarge,
      TooManyRequests: 'These devices got too many messages in a short time; send less often to the same people.',
      TopicDisallowed: wrongCredential,
      BadTopic: wrongCredential,
      MissingTopic: wrongCredential,
    },
  },
  sandbox: {
    makeCredential({ name, keys }) {
      const teamId = name.slice(-10).toUpperCase().padStart(10, '0');
      return {
        provider: 'apns',
        teamId,
        keyId: teamId.split('').reverse().join(''),
        privateKey: keys.p256,
        topic: `dev.carillon.${name}`,
        environment: 'sandbox',
        simulated: true,
      };
    },
    magic: {
      gone: { start: 'dead0410', answer: 'APNs 410' },
      invalid: { start: 'dead0400', answer: 'APNs 400 BadDeviceToken' },
      rejected: { start: 'dead0413', answer: 'APNs 413' },
      busy: { start: 'dead0429', answer: 'APNs 429 TooManyRequests' },
      silent: { start: 'dead0408' },
    },
    fieldAnswers: {
      'wrong-environment': {
        scope: 'account',
        answer: '400 `BadDeviceToken`, as every token gets from a credential of the wrong environment',
      },
      'wrong-topic': {
        scope: 'account',
        answer: '400 `DeviceTokenNotForTopic`, as every token gets from a credential of another bundle id',
      },
    },
  },
} as const satisfies ProviderFacts<ApnsCredential, typeof fields>;

/** Parses an APNs key (.p8, PKCS#8, P-256) with the ids that Apple provides with it. @throws ProviderKeyError */
export function parseApnsKey({ privateKey: given, teamId, keyId, topic, environment }: ApnsKey): ApnsCredential {
  const privateKey = readPem(given);
  if (privateKey.length > maxKeyFile || !privateKey.includes('-----BEGIN PRIVATE KEY-----'))
    throw new ProviderKeyError('The key is not a .p8 file (PEM, "BEGIN PRIVATE KEY").');
  requirePrivateKey(privateKey, 'ec');
  for (const [name, value] of Object.entries({ team: teamId, key: keyId })) {
    if (!/^[A-Z0-9]{10}$/.test(value))
      throw new ProviderKeyError(`The ${name} id must be ten capital letters and digits.`);
  }
  if (!/^[A-Za-z0-9.-]{1,155}$/.test(topic)) throw new ProviderKeyError('The topic must be the bundle id of the app.');
  return { provider: 'apns', teamId, keyId, topic, environment, privateKey, simulated: false };
}

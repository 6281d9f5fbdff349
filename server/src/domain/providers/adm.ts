import { createHash, randomBytes } from 'node:crypto';
import { ProviderKeyError } from './key-fields.ts';
import type { KeyFields, KeyOf } from './key-fields.ts';
import { sharedAdvice } from './provider-facts.ts';
import type { ProviderFacts } from './provider-facts.ts';

/** A security profile of Amazon, as it is stored, encrypted. */
export type AdmCredential = {
  provider: 'adm';
  /** Id of the profile's OAuth client; its secret follows. */
  clientId: string;
  clientSecret: string;
  simulated: boolean;
};

const fields = {
  clientId: {
    kind: 'text',
    label: 'Client id',
    hint: 'Amazon developer console: the security profile of the app, Web Settings',
    option: { flags: '--client-id <id>', description: 'client id of the security profile' },
  },
  clientSecret: {
    kind: 'secret',
    label: 'Client secret',
    hint: 'On the same page',
    option: { flags: '--secret-file <path>', description: 'file with the client secret' },
  },
} as const satisfies KeyFields;

export type AdmKey = KeyOf<typeof fields>;

const { gone, wrongCredential } = sharedAdvice;

/** Amazon Device Messaging (ADM), for Fire tablets and Fire TV. */
export const adm = {
  platforms: ['ANDROID'],
  usualOn: [],
  names: {
    inLists: 'Amazon Device Messaging (Android)',
    short: 'Amazon',
    inSentences: 'Amazon Device Messaging',
    ofAddress: 'Amazon registration id',
  },
  counter: 'ADM',
  // Amazon documents no form; ids of today begin with amzn1.adm-registration.v3. The id is a part of the path.
  address: {},
  key: {
    description: 'A security profile of Amazon, for the apps that have it',
    examples: [
      '--client-id amzn1.application-oa2-client.8e838f6629554e26ae3f43a6c663cd60 --secret-file secret.txt',
      '--client-id amzn1.application-oa2-client.8e838f6629554e26ae3f43a6c663cd60 --secret-file secret.txt --app courier',
    ],
    fields,
    parse: parseAdmKey,
  },
  summarise: ({ clientId }) => ({ clientId }),
  summaryNames: { clientId: 'Client id' },
  accountName: ({ clientId }) => clientId,
  accountId: ({ clientId = '' }) => clientId,
  // Several apps may have one security profile, and each of them would get the same answer.
  evidence: { scope: () => [] },
  advice: {
    onRefusedKey: [
      [
        /^ADM_TOKEN_REFUSED.*invalid_scope/,
        'Amazon Device Messaging is off for this security profile: enable it under App Services of the app in the Amazon developer console.',
      ],
      [
        /^ADM_TOKEN_REFUSED/,
        'Amazon does not know this client: compare client id and secret with the security profile in the Amazon developer console.',
      ],
      [
        /^(InvalidRegistrationId|AccessTokenExpired|ADM_40[134])/,
        'The security profile may not send to this app: compare it with the profile that the app has under App Services.',
      ],
    ],
    onFailure: {
      Unregistered: gone,
      InvalidRegistrationId:
        'Nothing to do if they are old: they are out. Ids of an app with another security profile are refused in the same way.',
      MessageTooLarge: 'Shorten title and message, or send fewer custom members: Amazon accepts 6 KB.',
      MaxRateExceeded: 'Amazon limited this account until the message’s time was over. Give the campaign a throttle.',
      AccessTokenExpired: wrongCredential,
      ADM_TOKEN_REFUSED: wrongCredential,
      ADM_503: 'Amazon was not available until the message’s time was over. Give it a longer time to live.',
    },
    undecided: ['InvalidRegistrationId'],
  },
  // Amazon's words, which no other provider of Android writes in this way, and the codes of responses without a word.
  codes: { pattern: /^(ADM_[A-Z0-9_]+|[A-Z][a-z]+([A-Z][a-z]+)*)$/, prefix: 'ADM_' },
  sandbox: {
    makeCredential({ name }) {
      const id = createHash('sha256').update(name).digest('hex').slice(0, 32);
      return {
        provider: 'adm',
        clientId: `amzn1.application-oa2-client.${id}`,
        clientSecret: `amzn1.oa2-cs.v1.${randomBytes(32).toString('hex')}`,
        simulated: true,
      };
    },
    magic: {
      gone: { start: 'magic-gone', answer: 'ADM 400 Unregistered' },
      invalid: { start: 'magic-invalid', answer: 'ADM 400 InvalidRegistrationId' },
      rejected: { start: 'magic-rejected', answer: 'ADM 413' },
      busy: { start: 'magic-busy', answer: 'ADM 503' },
      silent: { start: 'magic-silent' },
    },
    fieldAnswers: {
      limited: { scope: 'device', answer: '429 `MaxRateExceeded`, which does not say whose rate was exceeded' },
      'wrong-profile': {
        scope: 'account',
        answer: '400 `InvalidRegistrationId`, as every id gets from a security profile that its app does not have',
      },
    },
  },
} as const satisfies ProviderFacts<AdmCredential, typeof fields>;

/** Parses the OAuth client of a security profile, as Amazon's developer console shows it. @throws ProviderKeyError */
export function parseAdmKey({ clientId, clientSecret }: AdmKey): AdmCredential {
  if (!/^amzn1\.application-oa2-client\.[\w-]{8,100}$/.test(clientId))
    throw new ProviderKeyError('The client id must begin with amzn1.application-oa2-client, as Amazon shows it.');
  // 64 hexadecimal digits, since 2023 after amzn1.oa2-cs.v1.
  if (!/^[\x21-\x7e]{8,256}$/.test(clientSecret) || clientSecret === clientId)
    throw new ProviderKeyError('The client secret must be 8 to 256 characters without spaces, as Amazon shows it.');
  return { provider: 'adm', clientId, clientSecret, simulated: false };
}

import { createHash, randomBytes } from 'node:crypto';
import { ProviderKeyError } from './key-fields.ts';
import type { KeyFields, KeyOf } from './key-fields.ts';
import { sharedAdvice } from './provider-facts.ts';
import type { ProviderFacts } from './provider-facts.ts';

/** An OAuth client of Huawei, as it is stored, encrypted. */
export type HmsCredential = {
  provider: 'hms';
  /** Id of the OAuth client; its secret follows. */
  clientId: string;
  clientSecret: string;
  /** The sender: a project of AppGallery Connect, or one app (the second and the first version of the interface). */
  owner: { kind: 'project' | 'app'; id: string };
  simulated: boolean;
};

const fields = {
  clientId: {
    kind: 'text',
    label: 'Client id',
    hint: 'AppGallery Connect: Project settings, General information',
    option: { flags: '--client-id <number>', description: 'client id' },
  },
  clientSecret: {
    kind: 'secret',
    label: 'Client secret',
    hint: 'On the same page',
    option: { flags: '--secret-file <path>', description: 'file with the client secret' },
  },
  // Exactly one of the two ids: the sender of the messages.
  projectId: {
    kind: 'text',
    isOptional: true,
    label: 'Project id',
    hint: 'Messages are sent for the project',
    option: { flags: '--project <number>', description: 'id of the project' },
  },
  huaweiAppId: {
    kind: 'text',
    isOptional: true,
    label: 'App id',
    hint: 'Or, without a project id, for this app alone',
    option: { flags: '--huawei-app <number>', description: 'or id of the app' },
  },
} as const satisfies KeyFields;

export type HmsKey = KeyOf<typeof fields>;

const { gone, tooLarge, wrongCredential } = sharedAdvice;

/** Huawei Push Kit. */
export const hms = {
  platforms: ['ANDROID'],
  usualOn: [],
  names: {
    inLists: 'Huawei Push Kit (Android)',
    short: 'Huawei Push Kit',
    inSentences: 'Huawei Push Kit',
    ofAddress: 'Huawei token',
  },
  counter: 'HMS',
  address: {},
  key: {
    description: 'An OAuth client of Huawei Push Kit, for a project or an app of AppGallery Connect',
    examples: [
      '--client-id 104729811 --secret-file secret.txt --project 388421841222125673',
      '--client-id 104729811 --secret-file secret.txt --huawei-app 104729811 --app courier',
    ],
    fields,
    parse: parseHmsKey,
  },
  summarise: ({ clientId, owner }) => ({
    clientId,
    [owner.kind === 'project' ? 'projectId' : 'huaweiAppId']: owner.id,
  }),
  summaryNames: { clientId: 'Client id', projectId: 'Project', huaweiAppId: 'App id' },
  accountName: ({ projectId, huaweiAppId }) => projectId ?? huaweiAppId,
  // Huawei counts per project or app that sends.
  accountId: ({ projectId, huaweiAppId = '' }) => projectId ?? huaweiAppId,
  evidence: { scope: ({ credential: { owner } }) => [owner.kind, owner.id] },
  advice: {
    onRefusedKey: [
      [
        /^HMS_TOKEN_REFUSED/,
        'Huawei does not know this client: compare client id and secret with those of the app or project in AppGallery Connect.',
      ],
      [
        /^(80300002|HMS_40[34])/,
        'The client may not send for this project or app: turn on Push Kit in AppGallery Connect, and compare the id.',
      ],
    ],
    onFailure: {
      '80100000': gone,
      '80300007':
        'Nothing to do if they were uninstalled: they are out. Tokens of another app, or of HarmonyOS NEXT, are refused in the same way.',
      '80300008': tooLarge,
      '80300002': wrongCredential,
      '80200001': wrongCredential,
      HMS_TOKEN_REFUSED: wrongCredential,
      '81000001': 'Huawei Push Kit had a fault until the message’s time was over. Give it a longer time to live.',
      HMS_503: 'Huawei limited this account until the message’s time was over. Give the campaign a throttle.',
    },
    undecided: ['80100000', '80300007'],
  },
  // Huawei's numbers, and the codes that its classification gives to responses without a number.
  codes: { pattern: /^(HMS_[A-Z0-9_]+|8\d{7})$/, prefix: 'HMS_' },
  sandbox: {
    makeCredential({ name }) {
      // Huawei's ids are numbers.
      const number = createHash('sha256').update(name).digest().readUIntBE(0, 6).toString();
      return {
        provider: 'hms',
        clientId: number,
        clientSecret: randomBytes(32).toString('hex'),
        owner: { kind: 'project', id: number },
        simulated: true,
      };
    },
    magic: {
      gone: { start: 'magic-gone', answer: 'HMS 80300007' },
      invalid: { start: 'magic-invalid', answer: 'HMS 80100000' },
      rejected: { start: 'magic-rejected', answer: 'HMS 80300008' },
      busy: { start: 'magic-busy', answer: 'HMS 503' },
      limited: { start: 'magic-limited', answer: 'HMS 80300011' },
      silent: { start: 'magic-silent' },
    },
    fieldAnswers: {
      limited: { scope: 'device', answer: '200 with the code 80300011, for a device that gets too many messages' },
      'wrong-app': {
        scope: 'account',
        answer: '200 with the code 80300007, as every token gets from the credential of another app',
      },
    },
  },
} as const satisfies ProviderFacts<HmsCredential, typeof fields>;

/** Parses the OAuth client of a project or an app, as AppGallery Connect shows it. @throws ProviderKeyError */
export function parseHmsKey({ clientId, clientSecret, projectId, huaweiAppId }: HmsKey): HmsCredential {
  const [kind, id] = projectId === undefined ? (['app', huaweiAppId] as const) : (['project', projectId] as const);
  if (id === undefined || (projectId !== undefined && huaweiAppId !== undefined))
    throw new ProviderKeyError('Give the id of the project or of the app, one of the two.');
  for (const [name, value] of Object.entries({ client: clientId, [kind]: id }))
    if (!/^[0-9]{1,32}$/.test(value))
      throw new ProviderKeyError(`The ${name} id must be a number, as Huawei gives it.`);
  if (!/^[\x21-\x7e]{8,256}$/.test(clientSecret))
    throw new ProviderKeyError('The client secret does not have the form of a Huawei client secret.');
  return { provider: 'hms', clientId, clientSecret, owner: { kind, id }, simulated: false };
}

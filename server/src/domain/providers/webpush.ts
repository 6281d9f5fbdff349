import { createECDH } from 'node:crypto';
import { isPublicName } from '../delivery/push-services.ts';
import { noisySiteMessagesPerMinute } from '../limits/delivery.ts';
import { ProviderKeyError } from './key-fields.ts';
import type { KeyFields, KeyOf } from './key-fields.ts';
import { sharedAdvice } from './provider-facts.ts';
import type { ProviderFacts } from './provider-facts.ts';

/** The VAPID keys of a site, as they are stored, encrypted. */
export type WebPushCredential = {
  provider: 'webpush';
  /** Uncompressed P-256 point, base64url (RFC 8292 §3.2), 65 bytes. */
  publicKey: string;
  /** Scalar, base64url, 32 bytes. */
  privateKey: string;
  /** `mailto:` or `https:` contact (RFC 8292 §2.1). */
  subject: string;
  /** Made for the sandbox; the addresses of the subscriptions decide where messages go. */
  simulated: boolean;
};

const fields = {
  subject: {
    kind: 'text',
    label: 'Contact',
    hint: 'Where push services report problems: mailto:push@your-company.com or an https address, on the internet. Without keys below, another contact leaves the keys in use as they are',
    isWide: true,
    option: { flags: '--subject <contact>', description: 'mailto: or https: contact on the internet' },
  },
  keys: {
    kind: 'pair',
    isOptional: true,
    fields: {
      publicKey: {
        kind: 'text',
        label: 'Public key',
        hint: '65 bytes in base64url; leave empty for a new pair',
        option: { flags: '--public-key <text>', description: 'base64url, 65 bytes' },
      },
      privateKey: {
        kind: 'secret',
        label: 'Private key',
        hint: '32 bytes in base64url; leave empty for a new pair',
        option: { flags: '--private-key-file <path>', description: 'file with the base64url of 32 bytes' },
      },
    },
    incomplete: 'Give both --public-key and --private-key-file, or neither to create a pair.',
  },
} as const satisfies KeyFields;

const { gone, suspected, tooLarge } = sharedAdvice;
const foreignKey = `These browsers subscribed with another VAPID key, and come back when the site subscribes them again. If all browsers of one push service get this answer, it does not accept the contact address (subject) of your VAPID key: it must be a reachable mailto: or https: address. ${suspected}`;

/** The push services of browsers (RFC 8030), with VAPID. */
export const webpush = {
  platforms: ['WEB'],
  usualOn: ['WEB'],
  names: { inLists: 'Web Push', short: 'Web Push', inSentences: 'the push service', ofAddress: 'PushSubscription' },
  counter: 'WEB',
  address: 'subscription',
  key: {
    description: 'VAPID keys; without keys, keeps the pair in use and changes its contact, or creates the first pair',
    examples: ['--subject mailto:push@example.com'],
    fields,
    parse: parseWebPushKey,
    findStoredFault: ({ subject }) => (subject === undefined ? undefined : findSubjectFault(subject)),
    checkAlone({ subject, publicKey, privateKey }) {
      parseWebPushKey({ subject, keys: { publicKey, privateKey } });
      return 'The two keys are a pair. Push services have no accounts, so the pair cannot be checked further until a browser subscribes.';
    },
    subscribedWith: {
      name: 'publicKey',
      label: 'Key that is replaced',
      hint: 'Browsers subscribed with it receive nothing more. To replace {publicKey}, type its first eight characters; leave empty where the key stays',
      warning: 'With another public key, subscribed browsers receive nothing until they subscribe again.',
      option: {
        flags: '--in-place-of <text>',
        description: 'first 8 characters of the public key in use; its subscriptions are lost',
      },
    },
    afterwards: ({ publicKey }) => `Public key for subscribing browsers: ${publicKey}`,
  },
  summarise: ({ publicKey, subject }) => ({ publicKey, subject }),
  summaryNames: { publicKey: 'Public key', subject: 'Contact' },
  accountName: ({ subject }) => subject,
  // Push services identify a site by its VAPID key.
  accountId: ({ publicKey = '' }) => `${publicKey.slice(0, 22)}:`,
  limits: { noisyMessagesPerMinute: noisySiteMessagesPerMinute },
  evidence: { scope: ({ origin = '' }) => [origin] },
  advice: {
    onAcceptedKey:
      'Give the public key to your web page; browsers that subscribed with another key receive nothing until they subscribe again.',
    onRefusedKey: [
      [
        /^The subject/,
        'Connect Web Push with another contact and no keys: the keys stay, and so do the browsers that subscribed with them.',
      ],
      [/./, 'Connect a pair whose public key is made of the private one.'],
    ],
    onFailure: {
      '400': `The push service refuses the request, as it does for browsers that subscribed with another VAPID key; the delivery log has its words. ${suspected}`,
      '401': foreignKey,
      '403': `Where the delivery log says BadJwtToken (Safari), connect Web Push with a contact (subject) on the internet and no keys, which keeps the keys; if the contact is right, set the clock of this machine. ${foreignKey}`,
      '404': gone,
      '410': gone,
      '413': tooLarge,
      '429': 'The push service limits noisy sites; send less often. It recovers after days.',
    },
    undecided: ['404', '410'],
  },
  sandbox: {
    makeCredential: () => ({
      provider: 'webpush',
      ...makeVapidKeys(),
      subject: 'mailto:sandbox@example.com',
      simulated: true,
    }),
    magic: {
      gone: { start: 'magic-gone', answer: 'Web Push 410' },
      invalid: { start: 'magic-invalid', answer: 'Web Push 404' },
      rejected: { start: 'magic-rejected', answer: 'Web Push 413' },
      busy: { start: 'magic-busy', answer: 'Web Push 429' },
      throttled: {
        start: 'magic-throttled',
        answer: 'Web Push 406 with Retry-After: 1 and X-WNS-Status: dropped',
      },
      outdated: {
        start: 'magic-outdated',
        answer: 'Web Push 403, for a subscription that was made with an older VAPID key',
      },
      silent: { start: 'magic-silent' },
    },
    fieldAnswers: {
      throttled: { scope: 'device', answer: '406 with `Retry-After: 1` and `X-WNS-Status: dropped`, of Windows' },
      'outdated-key': { scope: 'device', answer: '403, for a subscription that was made with an older VAPID key' },
      'not-found': { scope: 'account', answer: '404 with a page of HTML, of a proxy that knows no push service' },
    },
  },
} as const satisfies ProviderFacts<WebPushCredential, typeof fields>;

/** Parses VAPID keys (RFC 8292), or generates a new pair if none is given. @throws ProviderKeyError */
export function parseWebPushKey(given: KeyOf<typeof fields>): WebPushCredential {
  const fault = findSubjectFault(given.subject);
  if (fault !== undefined) throw new ProviderKeyError(fault);
  const { publicKey, privateKey } = given.keys ?? makeVapidKeys();
  const isPair =
    Buffer.from(privateKey, 'base64url').length === 32 &&
    Buffer.from(publicKey, 'base64url').length === 65 &&
    publicKeyOf(privateKey) === publicKey;
  if (!isPair)
    throw new ProviderKeyError(
      'The keys are not a VAPID pair. They must have 65 and 32 bytes in base64url, and the first must be derived from the second.',
    );
  return { provider: 'webpush', publicKey, privateKey, subject: given.subject, simulated: false };
}

function makeVapidKeys(): { publicKey: string; privateKey: string } {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  // A scalar with leading zero bytes is encoded in fewer than the 32 bytes the format requires.
  const privateKey = Buffer.concat([Buffer.alloc(32), ecdh.getPrivateKey()])
    .subarray(-32)
    .toString('base64url');
  return { publicKey: ecdh.getPublicKey('base64url', 'uncompressed'), privateKey };
}

function publicKeyOf(privateKey: string): string | undefined {
  const ecdh = createECDH('prime256v1');
  try {
    ecdh.setPrivateKey(Buffer.from(privateKey, 'base64url'));
    return ecdh.getPublicKey('base64url', 'uncompressed');
  } catch {
    return undefined;
  }
}

/**
 * Returns what is wrong with the contact of a VAPID key (RFC 8292 §2.1); undefined if it is valid. Most push services accept
 * any text. Apple responds 403 `BadJwtToken` to every message unless the contact is one plain address, or an https URL, at a
 * host that exists on the internet (web-push issue 947). Pure.
 */
export function findSubjectFault(subject: string): string | undefined {
  const [, scheme, rest = ''] = /^(mailto:|https:\/\/)(.*)$/s.exec(subject) ?? [];
  if (scheme === undefined || rest === '' || /\s/.test(rest) || subject.length > maxSubjectCharacters)
    return 'The subject must be a mailto: or https: contact (RFC 8292 §2.1).';
  const host = scheme === 'mailto:' ? hostOfAddress(rest) : hostOfUrl(subject);
  if (host === undefined)
    return scheme === 'mailto:'
      ? 'The subject must have one plain address after mailto:, without a second mailto:, a name or angle brackets.'
      : 'The subject must be a valid https URL without a user or password.';
  if (!isPublicName(host))
    return `The subject names ${host}, which is not a host on the internet: Apple refuses every message that is signed with it (403 BadJwtToken).`;
  return undefined;
}

// The contact is in the token of each message, and headers have a size limit.
const maxSubjectCharacters = 320;

function hostOfAddress(address: string): string | undefined {
  const [, host] = /^[^@:<>()[\],;"\\?]+@([^@<>()[\],;"\\?/]+)$/.exec(address) ?? [];
  return host === undefined ? undefined : asciiOf(host);
}

function hostOfUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname, username, password } = new URL(text);
  return username === '' && password === '' ? hostname : undefined;
}

/** Returns an internationalized host name in its DNS form (`xn--…`). A text that is not a host name stays as it is. */
function asciiOf(host: string): string {
  return URL.canParse(`https://${host}`) ? new URL(`https://${host}`).hostname : host;
}

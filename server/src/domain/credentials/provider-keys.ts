import { createECDH, createPrivateKey } from 'node:crypto';
import { isPublicName } from '../delivery/push-services.ts';
import { unknownCase } from '../unknown-case.ts';
import type {
  ApnsCredential,
  FcmCredential,
  HmsCredential,
  ProviderCredential,
  WebPushCredential,
} from './credentials.ts';

/** Thrown for a key that cannot be a credential. The message says what is wrong and never contains key material. */
export class ProviderKeyError extends Error {
  override readonly name = 'ProviderKeyError';
}

/** A key as the operator provides it. */
export type GivenKey =
  | { provider: 'fcm'; keyFile: string }
  | ({ provider: 'apns' } & ApnsKey)
  | { provider: 'webpush'; subject: string; keys: { publicKey: string; privateKey: string } | undefined }
  | ({ provider: 'hms' } & HmsKey);

/** @throws ProviderKeyError */
export function parseProviderKey(given: GivenKey): ProviderCredential {
  switch (given.provider) {
    case 'fcm':
      return parseFcmKeyFile(given.keyFile);
    case 'apns':
      return parseApnsKey(given);
    case 'webpush':
      return parseWebPushKey(given);
    case 'hms':
      return parseHmsKey(given);
    default:
      return unknownCase(given);
  }
}

const maxKeyFile = 16_384;

/**
 * Parses a service account's key file (JSON, as Google's console provides it). Its `token_uri` is not used, because the
 * deployment decides where tokens are fetched (fault 3.9). A file that names another host is rejected, so that a forged
 * file is noticed.
 *
 * @throws ProviderKeyError
 */
export function parseFcmKeyFile(text: string): FcmCredential {
  if (text.length > maxKeyFile) throw new ProviderKeyError('The key file is too long to be a service account key.');
  let file: Record<string, unknown>;
  try {
    file = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new ProviderKeyError('The key file is not JSON.');
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
  const privateKey = read('private_key', /^-----BEGIN PRIVATE KEY-----/);
  requireKey(privateKey, 'rsa');
  return {
    provider: 'fcm',
    projectId: read('project_id', /^[a-z0-9:.-]{4,64}$/),
    clientEmail: read('client_email', /^[^\s@]{1,100}@[^\s@]{1,200}$/),
    privateKeyId: read('private_key_id', /^[A-Za-z0-9_-]{1,100}$/),
    privateKey,
    simulated: false,
  };
}

export type ApnsKey = {
  /** The .p8 file. */
  privateKey: string;
  teamId: string;
  keyId: string;
  /** Bundle id of the app. */
  topic: string;
  environment: 'production' | 'sandbox';
};

/** Parses an APNs key (.p8, PKCS#8, P-256) with the ids that Apple provides with it. @throws ProviderKeyError */
export function parseApnsKey({ privateKey, teamId, keyId, topic, environment }: ApnsKey): ApnsCredential {
  if (privateKey.length > maxKeyFile || !privateKey.includes('-----BEGIN PRIVATE KEY-----'))
    throw new ProviderKeyError('The key is not a .p8 file (PEM, "BEGIN PRIVATE KEY").');
  requireKey(privateKey, 'ec');
  for (const [name, value] of Object.entries({ team: teamId, key: keyId })) {
    if (!/^[A-Z0-9]{10}$/.test(value))
      throw new ProviderKeyError(`The ${name} id must be ten capital letters and digits.`);
  }
  if (!/^[A-Za-z0-9.-]{1,155}$/.test(topic)) throw new ProviderKeyError('The topic must be the bundle id of the app.');
  return { provider: 'apns', teamId, keyId, topic, environment, privateKey, simulated: false };
}

/** Parses VAPID keys (RFC 8292), or generates a new pair if none is given. @throws ProviderKeyError */
export function parseWebPushKey(given: {
  subject: string;
  keys: { publicKey: string; privateKey: string } | undefined;
}): WebPushCredential {
  const fault = findSubjectFault(given.subject);
  if (fault !== undefined) throw new ProviderKeyError(fault);
  const { publicKey, privateKey } = given.keys ?? makeVapidKeys();
  const isPair =
    Buffer.from(privateKey, 'base64url').length === 32 &&
    Buffer.from(publicKey, 'base64url').length === 65 &&
    publicKeyOf(privateKey) === publicKey;
  if (!isPair)
    throw new ProviderKeyError(
      'The keys are no VAPID pair: 65 and 32 bytes in base64url, the first made of the second.',
    );
  return { provider: 'webpush', publicKey, privateKey, subject: given.subject, simulated: false };
}

export type HmsKey = {
  clientId: string;
  clientSecret: string;
  /** Exactly one of the two ids: the sender of the messages. */
  projectId?: string | undefined;
  huaweiAppId?: string | undefined;
};

/** Parses the OAuth client of a project or an app, as AppGallery Connect shows it. @throws ProviderKeyError */
export function parseHmsKey({ clientId, clientSecret, projectId, huaweiAppId }: HmsKey): HmsCredential {
  const [kind, id] = projectId === undefined ? (['app', huaweiAppId] as const) : (['project', projectId] as const);
  if (id === undefined || (projectId !== undefined && huaweiAppId !== undefined))
    throw new ProviderKeyError('Give the id of the project or of the app, one of the two.');
  for (const [name, value] of Object.entries({ client: clientId, [kind]: id }))
    if (!/^[0-9]{1,32}$/.test(value))
      throw new ProviderKeyError(`The ${name} id must be a number, as Huawei gives it.`);
  if (!/^[\x21-\x7e]{8,256}$/.test(clientSecret))
    throw new ProviderKeyError('The client secret is no secret of Huawei.');
  return { provider: 'hms', clientId, clientSecret, owner: { kind, id }, simulated: false };
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

function requireKey(pem: string, type: 'rsa' | 'ec'): void {
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new ProviderKeyError('The private key cannot be read.');
  }
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  const isRight =
    asymmetricKeyType === type &&
    (type === 'rsa'
      ? (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
      : asymmetricKeyDetails?.namedCurve === 'prime256v1');
  if (!isRight)
    throw new ProviderKeyError(`The private key is not ${type === 'rsa' ? 'RSA of 2048 bits or more' : 'P-256'}.`);
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

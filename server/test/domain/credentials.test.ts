import { createECDH, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { adviseOnCheck } from '../../src/domain/credentials/checks.ts';
import { parseProviderKey } from '../../src/domain/credentials/credentials.ts';
import type { GivenKey, ProviderName } from '../../src/domain/delivery/providers.ts';
import { ProviderKeyError } from '../../src/domain/providers/key-fields.ts';

describe('credential check', () => {
  const notKnown = 'Make a new key with the provider and replace this one.';

  test.each<[ProviderName, string, RegExp]>([
    ['fcm', 'TOKEN_REFUSED: invalid_grant', /^Google does not know this key/],
    ['fcm', 'PERMISSION_DENIED', /^Turn on the Firebase Cloud Messaging API/],
    ['fcm', 'SERVICE_DISABLED', /^Turn on the Firebase Cloud Messaging API/],
    ['fcm', 'NOT_FOUND', /^There is no such Firebase project/],
    ['fcm', '404', /^There is no such Firebase project/],
    ['fcm', 'THIRD_PARTY_AUTH_ERROR', /^Put the APNs key into the Firebase project/],
    ['apns', 'InvalidProviderToken (403)', /^Apple does not know this key of this team/],
    ['apns', 'BadEnvironmentKeyIdInToken', /^The key is of the other environment/],
    ['apns', 'BadCertificateEnvironment', /^The key is of the other environment/],
    ['apns', 'TopicDisallowed', /^The key does not send to this app/],
    ['apns', 'BadTopic', /^The key does not send to this app/],
    ['apns', 'MissingTopic', /^The key does not send to this app/],
    ['apns', 'UnrelatedKeyIdInToken', /^The key does not send to this app/],
    ['hms', 'HMS_TOKEN_REFUSED', /^Huawei does not know this client/],
    ['hms', '80300002', /^The client may not send/],
    ['hms', 'HMS_403', /^The client may not send/],
    ['hms', 'HMS_404', /^The client may not send/],
    ['webpush', 'not a pair', /^Connect a pair/],
  ])('advises what to do if %s rejects a credential with %s', (provider, words, advice) => {
    expect(adviseOnCheck({ provider, verdict: 'REFUSED', words })).toMatch(advice);
  });

  test.each<[ProviderName, string]>([
    ['fcm', 'InvalidProviderToken'],
    ['apns', 'TOKEN_REFUSED'],
    ['fcm', 'HTTP 500 TOKEN_REFUSED'],
    ['hms', '80300003'],
    ['hms', 'HMS_405'],
  ])('gives the general advice for other answers of %s (%s)', (provider, words) => {
    expect(adviseOnCheck({ provider, verdict: 'REFUSED', words })).toBe(notKnown);
  });

  test.each<[Parameters<typeof adviseOnCheck>[0], string]>([
    [{ verdict: 'ACCEPTED', provider: 'fcm', words: 'BadDeviceToken' }, 'Nothing to do.'],
    [
      { verdict: 'ACCEPTED', provider: 'webpush', words: 'The two keys are a pair' },
      'Give the public key to your web page; browsers that subscribed with another key receive nothing until they subscribe again.',
    ],
    [
      { verdict: 'UNKNOWN', provider: 'apns', words: 'PROXY_REFUSED' },
      'The provider was not asked. Look at the outgoing proxy and at CARILLON_OUTGOING_PROXY, then check again.',
    ],
    [
      { verdict: 'UNKNOWN', provider: 'apns', words: 'no PROXY_ here' },
      'Look whether this machine reaches the provider (firewall, proxy, DNS), then check again.',
    ],
    [{ verdict: 'REFUSED', provider: 'fcm', words: 'PROXY_REFUSED' }, notKnown],
  ])('advises for %j', (check, advice) => {
    expect(adviseOnCheck(check)).toBe(advice);
  });
});

const pem = (key: { export(options: object): string | Buffer }) =>
  key.export({ type: 'pkcs8', format: 'pem' }) as string;
const rsa = pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
const p256 = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const p384 = pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey);
const weak = pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----';

describe("a service account's key file", () => {
  const account = {
    ...{ type: 'service_account', project_id: 'my-project', private_key_id: 'abc123', private_key: rsa },
    client_email: 'sender@my-project.iam.gserviceaccount.com',
  };
  const refused = (change: object) => refusal({ provider: 'fcm', keyFile: JSON.stringify({ ...account, ...change }) });

  test('is parsed as Google issues it', () => {
    expect(parseProviderKey({ provider: 'fcm', keyFile: JSON.stringify(account) })).toEqual({
      ...{ provider: 'fcm', projectId: 'my-project', privateKeyId: 'abc123', privateKey: rsa, simulated: false },
      clientEmail: account.client_email,
    });
  });

  test.each(['https://oauth2.googleapis.com/token', 'https://accounts.google.com/o/oauth2/token'])(
    'may have the token URL %s, which is not stored (fault 3.9)',
    (token_uri) => {
      expect(refused({ token_uri })).toBeUndefined();
      const keyFile = JSON.stringify({ ...account, token_uri });
      expect(JSON.stringify(parseProviderKey({ provider: 'fcm', keyFile }))).not.toContain(token_uri);
    },
  );

  test.each([
    'https://evil.example/token',
    'http://oauth2.googleapis.com/token',
    'https://oauth2.googleapis.com.evil.example/',
    'https://oauth2.googleapisxcom/token',
    'https://evil.example/https://oauth2.googleapis.com/',
    null,
  ])('may not have a token URL of another host: %s (fault 3.9)', (token_uri) => {
    expect(refused({ token_uri })).toBe("The key file's token_uri is not Google's.");
  });

  test.each(['x', 'null', '[]', '"service_account"', '7'])('is not %s', (keyFile) => {
    expect(refusal({ provider: 'fcm', keyFile })).toBe(
      keyFile === 'x'
        ? 'The key file is not JSON.'
        : 'The key file is not that of a service account (type "service_account").',
    );
  });

  test('is rejected for another kind of account, or above 16 KiB', () => {
    expect(refused({ type: 'authorized_user' })).toBe(
      'The key file is not that of a service account (type "service_account").',
    );
    const length = JSON.stringify({ ...account, more: '' }).length;
    expect(refused({ more: 'x'.repeat(16_384 - length) })).toBeUndefined();
    expect(refused({ more: 'x'.repeat(16_385 - length) })).toBe(
      'The key file is too long to be a service account key.',
    );
  });

  test.each([
    [
      'project_id',
      ['a', 'a/../b', 'A-project', 'x'.repeat(65), 7, undefined],
      ['abcd', 'example.com:my-1', 'x'.repeat(64)],
    ],
    [
      'client_email',
      ['sender', 'a b@c.example', 'a@', '@b', 'a@b@c', `${'x'.repeat(101)}@a`, `a@${'x'.repeat(201)}`, ' a@b', 'a@b\n'],
      ['a@b', `${'x'.repeat(100)}@${'y'.repeat(200)}`],
    ],
    ['private_key_id', ['', 'a/b', 'a\n', '\na', 'x'.repeat(101), null], ['A_b-1', 'x'.repeat(100)]],
    ['private_key', ['x', ` ${rsa}`, undefined], [rsa]],
  ])('may not have an invalid %s', (name, wrong, right) => {
    for (const value of wrong) expect(refused({ [name]: value })).toBe(`The key file has no usable ${name}.`);
    for (const value of right) expect([value, refused({ [name]: value })]).toEqual([value, undefined]);
  });

  test('must have an RSA key of 2048 bits or more', () => {
    expect(refused({ private_key: broken })).toBe('The private key cannot be read.');
    expect(refused({ private_key: p256 })).toBe('The private key is not RSA of 2048 bits or more.');
    expect(refused({ private_key: weak })).toBe('The private key is not RSA of 2048 bits or more.');
  });
});

describe('a key of Apple', () => {
  const key: Extract<GivenKey, { provider: 'apns' }> = {
    ...{ provider: 'apns', privateKey: p256, teamId: 'TEAM123456', keyId: 'KEY1234567' },
    ...{ topic: 'com.example.app', environment: 'sandbox' },
  };

  test('is parsed with its ids', () => {
    expect(parseProviderKey(key)).toEqual({ ...key, simulated: false });
  });

  test.each<[object, string | undefined]>([
    [{ privateKey: `comment\n${p256}` }, undefined],
    [{ privateKey: 'x' }, 'The key is not a .p8 file (PEM, "BEGIN PRIVATE KEY").'],
    [{ privateKey: p256.padEnd(16_384) }, undefined],
    [{ privateKey: p256.padEnd(16_385) }, 'The key is not a .p8 file (PEM, "BEGIN PRIVATE KEY").'],
    [{ privateKey: broken }, 'The private key cannot be read.'],
    [{ privateKey: rsa }, 'The private key is not P-256.'],
    [{ privateKey: p384 }, 'The private key is not P-256.'],
    [{ teamId: 'TEAM12345' }, 'The team id must be ten capital letters and digits.'],
    [{ teamId: 'TEAM1234567' }, 'The team id must be ten capital letters and digits.'],
    [{ keyId: 'key1234567' }, 'The key id must be ten capital letters and digits.'],
    [{ keyId: 'KEY1234567\n' }, 'The key id must be ten capital letters and digits.'],
    [{ topic: '' }, 'The topic must be the bundle id of the app.'],
    [{ topic: 'com.example app' }, 'The topic must be the bundle id of the app.'],
    [{ topic: 'com.example/app' }, 'The topic must be the bundle id of the app.'],
    [{ topic: ' com.example' }, 'The topic must be the bundle id of the app.'],
    [{ topic: 'x'.repeat(156) }, 'The topic must be the bundle id of the app.'],
    [{ topic: 'x'.repeat(155) }, undefined],
  ])('is checked with %j', (change, reason) => {
    expect(refusal({ ...key, ...change })).toBe(reason);
  });
});

describe('VAPID keys (RFC 8292)', () => {
  const subject = 'mailto:a@example.com';
  const notAPair =
    'The keys are not a VAPID pair. They must have 65 and 32 bytes in base64url, and the first must be derived from the second.';

  test('are generated if none are given, and parsed again', () => {
    const made = parseProviderKey({ provider: 'webpush', subject, keys: undefined });
    if (made.provider !== 'webpush') throw new Error('another provider');
    expect(made).toMatchObject({ provider: 'webpush', subject, simulated: false });
    expect([made.publicKey, made.privateKey].map((key) => Buffer.from(key, 'base64url').length)).toEqual([65, 32]);
    expect(parseProviderKey({ provider: 'webpush', subject, keys: made })).toEqual(made);
  });

  test('are a pair in base64url', () => {
    const pairs = [1, 2].map((last) => {
      const ecdh = createECDH('prime256v1');
      const privateKey = Buffer.alloc(32, last);
      ecdh.setPrivateKey(privateKey);
      return { publicKey: ecdh.getPublicKey('base64url'), privateKey: privateKey.toString('base64url'), ecdh };
    });
    const [one, two] = pairs as [(typeof pairs)[0], (typeof pairs)[0]];
    const refused = (keys: { publicKey: string; privateKey: string }) =>
      refusal({ provider: 'webpush', subject, keys });
    expect(refused(one)).toBeUndefined();
    expect(refused({ ...one, privateKey: two.privateKey })).toBe(notAPair);
    expect(refused({ ...one, publicKey: one.ecdh.getPublicKey('base64url', 'compressed') })).toBe(notAPair);
    expect(refused({ ...one, privateKey: '' })).toBe(notAPair);
    // No scalar: more than the order of the curve.
    expect(refused({ ...one, privateKey: Buffer.alloc(32, 0xff).toString('base64url') })).toBe(notAPair);
  });

  const shape = 'The subject must be a mailto: or https: contact (RFC 8292 §2.1).';
  const plain =
    'The subject must have one plain address after mailto:, without a second mailto:, a name or angle brackets.';
  const notPublic = (host: string) =>
    `The subject names ${host}, which is not a host on the internet: Apple refuses every message that is signed with it (403 BadJwtToken).`;

  test.each<[string, string | undefined]>([
    ['mailto:a@example.com', undefined],
    ['mailto:push+alerts@mail.shop.co.uk', undefined],
    ['mailto:a@münchen.de', undefined],
    ['https://example.com/contact', undefined],
    ['https://push.shop.com:8443/?a=b#c', undefined],
    ['a@example.com', shape],
    ['mailto:', shape],
    ['mailto:example.com', plain],
    ['mailto:a b@example.com', shape],
    ['mailto: a@example.com', shape],
    ['mailto:a@example com', shape],
    ['mailto:@example.com', plain],
    ['mailto:a@', plain],
    ['http://example.com', shape],
    ['https://', shape],
    ['https://example.com/a b', shape],
    ['say mailto:a@example.com', shape],
    [`mailto:${'a'.repeat(400)}@example.com`, shape],
    ['mailto:mailto:a@example.com', plain],
    ['mailto:<a@example.com>', plain],
    ['mailto:Ada<a@example.com>', plain],
    ['mailto:a@example.com,b@example.com', plain],
    ['mailto:a@b@example.com', plain],
    ['mailto:a@example.com?subject=x', plain],
    ['https://user:password@example.com', 'The subject must be a valid https URL without a user or password.'],
    ['https://example.com:99999', 'The subject must be a valid https URL without a user or password.'],
    ['mailto:x@localhost', notPublic('localhost')],
    ['mailto:x@LOCALHOST', notPublic('localhost')],
    ['mailto:x@mac.local', notPublic('mac.local')],
    ['mailto:x@mac.local.', notPublic('mac.local.')],
    ['mailto:x@shop.example', notPublic('shop.example')],
    ['mailto:x@push.internal', notPublic('push.internal')],
    ['mailto:x@nas.home.arpa', notPublic('nas.home.arpa')],
    ['mailto:x@example..com', notPublic('example..com')],
    ['mailto:x@10.0.0.1', notPublic('10.0.0.1')],
    ['https://localhost', notPublic('localhost')],
    ['https://app.localhost:3000/', notPublic('app.localhost')],
    ['https://127.0.0.1', notPublic('127.0.0.1')],
    ['https://[::1]/', notPublic('[::1]')],
    ['https://server', notPublic('server')],
    ['https://shop.test', notPublic('shop.test')],
  ])('have the contact %s: %s', (contact, reason) => {
    expect(refusal({ provider: 'webpush', subject: contact, keys: undefined })).toBe(reason);
  });
});

describe('a client of Huawei', () => {
  const key = { provider: 'hms', clientId: '104729811', clientSecret: 'c0ffee'.repeat(8) } as const;
  const secretless = 'The client secret does not have the form of a Huawei client secret.';

  test('belongs to a project or to an app', () => {
    expect(parseProviderKey({ ...key, projectId: '388' })).toEqual({
      ...{ ...key, owner: { kind: 'project', id: '388' }, simulated: false },
    });
    expect(parseProviderKey({ ...key, huaweiAppId: '104' })).toMatchObject({ owner: { kind: 'app', id: '104' } });
  });

  test.each<[object, string | undefined]>([
    [{}, 'Give the id of the project or of the app, one of the two.'],
    [{ projectId: '1', huaweiAppId: '2' }, 'Give the id of the project or of the app, one of the two.'],
    [{ projectId: '1', clientId: 'x1' }, 'The client id must be a number, as Huawei gives it.'],
    [{ projectId: '1x' }, 'The project id must be a number, as Huawei gives it.'],
    [{ huaweiAppId: '' }, 'The app id must be a number, as Huawei gives it.'],
    [{ huaweiAppId: '1'.repeat(33) }, 'The app id must be a number, as Huawei gives it.'],
    [{ huaweiAppId: '1'.repeat(32) }, undefined],
    [{ projectId: '1', clientSecret: 'c0ffee1' }, secretless],
    [{ projectId: '1', clientSecret: 'c0ffee12' }, undefined],
    [{ projectId: '1', clientSecret: 'c0ffee 12' }, secretless],
    [{ projectId: '1', clientSecret: 'c0ffee12\n' }, secretless],
    [{ projectId: '1', clientSecret: ' c0ffee12' }, secretless],
    [{ projectId: '1', clientSecret: 'x'.repeat(256) }, undefined],
    [{ projectId: '1', clientSecret: 'x'.repeat(257) }, secretless],
  ])('is checked with %j', (change, reason) => {
    expect(refusal({ ...key, ...change })).toBe(reason);
  });
});

/** What it is refused with; undefined if it is taken. No message holds key material. */
function refusal(given: GivenKey): string | undefined {
  try {
    parseProviderKey(given);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ProviderKeyError);
    expect((error as Error).name).toBe('ProviderKeyError');
    expect((error as Error).message).not.toMatch(/MI[GIE]|c0ffee/);
    return (error as Error).message;
  }
}

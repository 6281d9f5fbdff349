import { constants, createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { importSPKI, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { makeSimulatedCredentials } from '../../../src/app/sandbox/simulated-credentials.ts';
import { makeManualClock } from '../../../src/clock.ts';
import { makeApnsProviderTokens } from '../../../src/providers/apns/provider-token.ts';
import { makeSimulateApns } from '../../../src/providers/apns/simulator.ts';
import { makeSimulateFcm } from '../../../src/providers/fcm/simulator.ts';
import { simulatedPushOrigin } from '../../../src/domain/delivery/push-services.ts';
import { makeSimulateWebPush } from '../../../src/providers/webpush/simulator.ts';
import type { SimulatorAccount } from '../../../src/providers/registry.ts';
import type { SimulatedAnswer } from '../../../src/providers/simulator/simulator.ts';

const now = new Date('2026-11-21T12:00:00Z');
const seconds = now.getTime() / 1000;
const { fcm, apns, webpush } = await makeSimulatedCredentials('abcdef123456');
const pemOf = (privateKey: string): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string;
const account: SimulatorAccount = {
  workspaceId: 'WORKSPACE',
  fcm: { projectId: fcm.projectId, clientEmail: fcm.clientEmail, publicKeyPem: pemOf(fcm.privateKey) },
  apns: { teamId: apns.teamId, keyId: apns.keyId, topics: [apns.topic], publicKeyPem: pemOf(apns.privateKey) },
  webpush: { publicKey: webpush.publicKey },
};
const vapidPoint = Buffer.from(webpush.publicKey, 'base64url');
const vapidKey = createPrivateKey({
  format: 'jwk',
  key: {
    kty: 'EC',
    crv: 'P-256',
    x: vapidPoint.subarray(1, 33).toString('base64url'),
    y: vapidPoint.subarray(33).toString('base64url'),
    d: webpush.privateKey,
  },
}).export({ type: 'pkcs8', format: 'pem' }) as string;

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
// The order of P-256's group (SEC 2 §2.4.2).
const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');

type Parts = { head: object; claims: object; privateKey: string };
type Forge = (parts: Parts) => string;
const signed = (head: object, claims: object): string => `${encode(head)}.${encode(claims)}`;
const p1363 = (text: string, key: string | typeof foreign): Buffer =>
  sign('sha256', Buffer.from(text), {
    key: typeof key === 'string' ? createPrivateKey(key) : key,
    dsaEncoding: 'ieee-p1363',
  });
const withSignature =
  (change: (signature: Buffer, text: string, parts: Parts) => Buffer): Forge =>
  (parts) => {
    const text = signed(parts.head, parts.claims);
    return `${text}.${change(p1363(text, parts.privateKey), text, parts).toString('base64url')}`;
  };
const withHead =
  (change: object): Forge =>
  (parts) => {
    const text = signed({ ...parts.head, ...change }, parts.claims);
    return `${text}.${p1363(text, parts.privateKey).toString('base64url')}`;
  };

const forgeries: [what: string, forge: Forge][] = [
  [
    'no signature, algorithm none (RFC 8725 §2.1)',
    ({ head, claims }) => `${signed({ ...head, alg: 'none' }, claims)}.`,
  ],
  ['a good signature under algorithm none', withHead({ alg: 'none' })],
  ['a good signature under another name', withHead({ alg: 'ES384' })],
  ['a good signature under a name in small letters', withHead({ alg: 'es256' })],
  ['a good signature under no name', withHead({ alg: undefined })],
  [
    'HMAC with the public key as its secret (RFC 8725 §2.1)',
    ({ head, claims, privateKey }) => {
      const text = signed({ ...head, alg: 'HS256' }, claims);
      return `${text}.${createHmac('sha256', pemOf(privateKey)).update(text).digest('base64url')}`;
    },
  ],
  [
    'a signature in DER, as OpenSSL makes it (RFC 7518 §3.4)',
    withSignature((_signature, text, { privateKey }) => sign('sha256', Buffer.from(text), privateKey)),
  ],
  ['a signature of a foreign key', withSignature((_signature, text) => p1363(text, foreign))],
  ['a signature of a foreign curve', withSignature((_signature, text) => p1363(text, p384))],
  ['zeros (CVE-2022-21449)', withSignature(() => Buffer.alloc(64))],
  ['the order of the group, twice', withSignature(() => Buffer.concat([order, order]))],
  [
    'r and s the wrong way round',
    withSignature((signature) => Buffer.concat([signature.subarray(32), signature.subarray(0, 32)])),
  ],
  ['one byte short', withSignature((signature) => signature.subarray(0, 63))],
  ['one byte long', withSignature((signature) => Buffer.concat([signature, Buffer.alloc(1)]))],
  ['empty', withSignature(() => Buffer.alloc(0))],
  [
    'one bit changed',
    withSignature((signature) => {
      signature[40]! ^= 4;
      return signature;
    }),
  ],
  [
    'claims changed after signing',
    (parts) => {
      const [head, , signature] = withHead({})(parts).split('.');
      return `${head}.${encode({ ...parts.claims, extra: 1 })}.${signature}`;
    },
  ],
  ['two parts', (parts) => withHead({})(parts).split('.').slice(0, 2).join('.')],
  ['no JSON', () => 'a.b.c'],
];

/** What the simulator says of a token. */
const apnsSays = (token: string): SimulatedAnswer | Promise<SimulatedAnswer> =>
  makeSimulateApns(() => [account])({
    method: 'POST',
    path: `/3/device/${'ab'.repeat(32)}`,
    headers: { authorization: `bearer ${token}`, 'apns-topic': apns.topic, 'apns-push-type': 'alert' },
    body: Buffer.from('{"aps":{"alert":"x"}}'),
    now,
    shownAt: now,
  });
const webPushSays = (token: string): SimulatedAnswer | Promise<SimulatedAnswer> =>
  makeSimulateWebPush(() => [account], { secret: Buffer.alloc(32) })({
    method: 'POST',
    path: '/push/magic-gone',
    headers: { authorization: `vapid t=${token}, k=${webpush.publicKey}`, ttl: '60', 'content-encoding': 'aes128gcm' },
    body: Buffer.alloc(103),
    now,
    shownAt: now,
  });
const fcmSays = (assertion: string): SimulatedAnswer | Promise<SimulatedAnswer> =>
  makeSimulateFcm(() => [account])({
    method: 'POST',
    path: '/token',
    headers: {},
    body: Buffer.from(
      new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
    ),
    now,
    shownAt: now,
  });

const apnsParts: Parts = {
  head: { alg: 'ES256', kid: apns.keyId },
  claims: { iss: apns.teamId, iat: seconds },
  privateKey: apns.privateKey,
};
const vapidParts: Parts = {
  head: { typ: 'JWT', alg: 'ES256' },
  claims: { aud: simulatedPushOrigin, exp: seconds + 3600, sub: 'mailto:a@example.com' },
  privateKey: vapidKey,
};

test('the provider token for APNs is ES256 in the form of RFC 7518 §3.4: an independent library verifies it', async () => {
  const token = await makeApnsProviderTokens({
    clock: makeManualClock(now),
    share: async ({ make }) => make(),
  }).get(apns);
  const key = await importSPKI(account.apns!.publicKeyPem, 'ES256');
  const { protectedHeader, payload } = await jwtVerify(token, key, { algorithms: ['ES256'], currentDate: now });
  expect(protectedHeader).toEqual({ alg: 'ES256', kid: apns.keyId });
  expect(payload).toEqual({ iss: apns.teamId, iat: seconds });
  expect(Buffer.from(token.split('.')[2]!, 'base64url')).toHaveLength(64);
});

describe('the simulators take a good token and refuse every forgery', () => {
  test('a good one of each', async () => {
    expect(await apnsSays(withHead({})(apnsParts))).toMatchObject({ status: 200 });
    expect(await webPushSays(withHead({})(vapidParts))).toMatchObject({ status: 410 });
    expect(await fcmSays(makeAssertion({}))).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
  });

  test.each(forgeries)('APNs: %s', async (_what, forge) => {
    expect(await apnsSays(forge(apnsParts))).toEqual({
      ...{ status: 403, rule: 'credentials' },
      body: { reason: 'InvalidProviderToken' },
    });
  });

  test.each(forgeries)('Web Push: %s', async (_what, forge) => {
    expect(await webPushSays(forge(vapidParts))).toEqual({
      ...{ status: 403, rule: 'credentials' },
      body: 'VAPID is not valid',
    });
  });

  test.each<[string, string]>([
    ['algorithm none', `${signed({ alg: 'none' }, assertionClaims())}.`],
    ['a good signature under algorithm none', makeAssertion({ alg: 'none' })],
    ['HMAC with the public key as its secret', hmacAssertion()],
    ['PSS where PKCS #1 is asked for', makeAssertion({ alg: 'PS256' }, { padding: constants.RSA_PKCS1_PSS_PADDING })],
    [
      'a signature of an EC key',
      `${signed({ alg: 'ES256' }, assertionClaims())}.${p1363(signed({ alg: 'ES256' }, assertionClaims()), foreign).toString('base64url')}`,
    ],
    ['empty', `${signed({ alg: 'RS256' }, assertionClaims())}.`],
    ['no JSON', 'a.b.c'],
  ])('FCM token endpoint: %s', async (_what, assertion) => {
    expect(await fcmSays(assertion)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
});

function assertionClaims(): object {
  return {
    iss: fcm.clientEmail,
    scope: 'https://www.googleapis.com/auth/firebase.messaging',
    aud: 'https://oauth2.googleapis.com/token',
    iat: seconds,
    exp: seconds + 3600,
  };
}

function makeAssertion(head: object, { padding = constants.RSA_PKCS1_PADDING } = {}): string {
  const text = signed({ alg: 'RS256', typ: 'JWT', ...head }, assertionClaims());
  const signature = sign('sha256', Buffer.from(text), { key: createPrivateKey(fcm.privateKey), padding });
  return `${text}.${signature.toString('base64url')}`;
}

function hmacAssertion(): string {
  const text = signed({ alg: 'HS256', typ: 'JWT' }, assertionClaims());
  return `${text}.${createHmac('sha256', account.fcm!.publicKeyPem).update(text).digest('base64url')}`;
}

import { constants, createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { importSPKI, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { makeSimulatedCredentials } from '../../../src/app/sandbox/simulated-credentials.ts';
import { makeManualClock } from '../../../src/clock.ts';
import { simulatedPushOrigin } from '../../../src/domain/delivery/push-services.ts';
import { makeApnsProviderTokens } from '../../../src/providers/apns/provider-token.ts';
import { makeSimulateApns } from '../../../src/providers/apns/simulator.ts';
import type { DeliveryBatch, MessageParts } from '../../../src/providers/batch.ts';
import { makeSimulateFcm } from '../../../src/providers/fcm/simulator.ts';
import { RequestHead } from '../../../src/providers/http2/requests.ts';
import type { OutgoingRequest } from '../../../src/providers/http2/requests.ts';
import { RequestWriter } from '../../../src/providers/lane-batch.ts';
import type { Outcome, PlanInput, RoutedProvider } from '../../../src/providers/provider.ts';
import type { SimulatorAccount } from '../../../src/providers/registry.ts';
import type { SimulatedAnswer } from '../../../src/providers/simulator/simulator.ts';
import { makeSimulateWebPush } from '../../../src/providers/webpush/simulator.ts';
import { makeMessage } from './make-message.ts';

type Planned = ReturnType<RoutedProvider<object>['plan']>;
type Given = {
  plan?: (input: PlanInput<object>, number: number) => Planned;
  reads?: 'failures' | 'bodies';
  texts?: 'copied' | 'read';
  smallBodyBytes?: number;
  pushIds?: string[];
  partsOf?: (place: number) => MessageParts | undefined;
  messageWith?: DeliveryBatch['messageWith'];
  messageOf?: DeliveryBatch['messageOf'];
};

const messageOf = (place: number) => makeMessage('ANDROID', String(place));
const shape = {} as never;
const withText = (text: string, place = 0): MessageParts => ({
  ...messageOf(place),
  own: { texts: [text], shape } as never,
});

describe('messages that differ only in the parts of their devices', () => {
  test('are planned once, and written with the parts of each', () => {
    const { write, writer, planned } = makeBundle();
    for (const [place, pushId] of ['a', 'b', 'c'].entries()) expect(write(place)).toEqual(expected(place, { pushId }));
    expect(planned).toHaveLength(1);
    expect([0, 1, 2].map((place) => writer.messageIdOf(place))).toEqual(
      [0, 1, 2].map((place) => messageOf(place).identity.id),
    );
  });

  test('are written into one buffer, which grows for a longer message', () => {
    const long = 'y'.repeat(9_000);
    const { write, request } = makeBundle({ pushIds: ['aa', 'bb', long, 'c'], smallBodyBytes: 20_000 });
    write(0);
    const first = request.body;
    expect(write(1)).toEqual(expected(1, { pushId: 'bb' }));
    expect(request.body).toBe(first);
    expect(write(2)).toEqual(expected(2, { pushId: long }));
    expect(request.body.length).toBeGreaterThan(long.length);
    expect(write(3)).toEqual(expected(3, { pushId: 'c' }));
    expect(write(0)).toEqual(expected(0, { pushId: 'aa' }));
  });

  test('keep no id if the provider issues its own', () => {
    const { write, writer } = makeBundle({ reads: 'bodies' });
    write(0);
    writer.plan(1);
    expect([writer.messageIdOf(0), writer.messageIdOf(1)]).toEqual([undefined, undefined]);
  });

  test('are planned individually if they lack a report', () => {
    const withoutReport = (place: number) => {
      const { report: _report, ...message } = messageOf(place);
      return message;
    };
    const made = (place: number) => (place === 1 ? withoutReport(1) : messageOf(place));
    const { write, planned } = makeBundle({ messageOf: made, partsOf: made });
    expect(write(0)).toEqual(expected(0, { pushId: 'a' }));
    expect(JSON.parse(write(1).body)).not.toHaveProperty('report');
    expect(write(2)).toEqual(expected(2, { pushId: 'c' }));
    expect(planned).toHaveLength(2);
  });

  test('are rejected together if none of them could be sent', () => {
    const outcome: Outcome = { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail: 'x' };
    const { write, planned, told } = makeBundle({ plan: () => ({ outcome }) });
    expect([write(0).written, write(1).written]).toEqual(['reported', 'reported']);
    expect(told).toEqual([
      [0, outcome],
      [1, outcome],
    ]);
    expect(planned).toHaveLength(1);
  });

  test('are stopped if the credential cannot be used', () => {
    const { write, told } = makeBundle({
      plan() {
        throw new Error('no key');
      },
    });
    expect(write(0).written).toBe('reported');
    expect(told).toEqual([[0, { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: 'no key' }]]);
  });
});

describe('messages with personal texts', () => {
  const texts = ['Ada', 'Zoë 😀 "quoted"\n', 'Grace'];
  const ownParts = (place: number) => withText(texts[place]!, place);
  const made = (place: number) => {
    const message = messageOf(place);
    return { ...message, content: { ...message.content, title: texts[place]! } };
  };

  test('are also written from one form', () => {
    const { write, planned } = makeBundle({ partsOf: ownParts, messageOf: made });
    for (const [place, pushId] of ['a', 'b', 'c'].entries())
      expect(write(place)).toEqual(expected(place, { pushId, title: texts[place]! }));
    expect(planned).toHaveLength(1);
  });

  test('are planned individually if the provider reads the text', () => {
    const { write, planned } = makeBundle({ partsOf: ownParts, messageOf: made, texts: 'read' });
    for (const place of [0, 1]) expect(write(place)).toMatchObject({ written: 'written' });
    expect(planned).toEqual(['a', 'b']);
  });

  test('are planned individually only if they might be too large', () => {
    const bytes = expected(0, { pushId: 'a', title: texts[0]! }).body.length;
    for (const [smallBodyBytes, count] of [
      [bytes, 1],
      [bytes - 1, 2],
    ] as const) {
      const { write, planned } = makeBundle({ partsOf: ownParts, messageOf: made, smallBodyBytes });
      expect(write(0)).toEqual(expected(0, { pushId: 'a', title: texts[0]! }));
      expect(planned).toHaveLength(count);
    }
  });

  test('are planned individually if the form cannot produce a message, or their shape differs', () => {
    const broken = makeBundle({
      ...{ partsOf: ownParts, messageOf: made },
      messageWith() {
        throw new Error('cannot be made');
      },
    });
    expect(broken.write(0)).toEqual(expected(0, { pushId: 'a', title: 'Ada' }));
    const shapes = makeBundle({
      messageOf: made,
      partsOf: (place) =>
        place === 1
          ? { ...messageOf(1), own: { texts: ['x'], shape: { other: 1 } as never } as never }
          : ownParts(place),
    });
    shapes.write(0);
    expect(shapes.write(1)).toEqual(expected(1, { pushId: 'b', title: texts[1]! }));
    expect(shapes.planned).toHaveLength(2);
  });

  test('are not rejected together, because the form may be rejected for a reason that does not affect others', () => {
    const { write, planned, told } = makeBundle({
      partsOf: ownParts,
      messageOf: made,
      plan: (input, number) =>
        number === 1 ? { outcome: { kind: 'rejected', code: 'X', detail: '' } } : planPlainly(input),
    });
    for (const place of [0, 1])
      expect(write(place)).toEqual(expected(place, { pushId: 'ab'[place]!, title: texts[place]! }));
    expect([planned.length, told]).toEqual([3, []]);
  });
});

describe('an individual message', () => {
  test('is written if its batch has no known parts', () => {
    const { write, writer, planned } = makeBundle({ partsOf: () => undefined });
    for (const place of [0, 1]) expect(write(place)).toEqual(expected(place, { pushId: 'ab'[place]! }));
    expect(planned).toEqual(['a', 'b']);
    expect(writer.messageIdOf(1)).toBe(messageOf(1).identity.id);
  });

  test('is not written for an address that is not plain', () => {
    const { write, planned } = makeBundle({ pushIds: ['"'] });
    expect(write(0)).toMatchObject({ written: 'alone', ticket: 99 });
    expect(planned).toEqual([]);
  });

  test('is not written with an invalid header value, but sent on its own', () => {
    const { write } = makeBundle({
      partsOf: () => undefined,
      plan: () => ({
        plan: { origin: '', path: '/', headers: { 'content-type': 'a\nb' }, body: Buffer.alloc(0) },
      }),
    });
    expect(write(0).written).toBe('alone');
  });

  test('is a fault if it or its parts cannot be created', () => {
    const broken = new Error('cannot be made');
    const fail = (): never => {
      throw broken;
    };
    for (const given of [{ partsOf: fail }, { partsOf: () => undefined, messageOf: fail }]) {
      const { write, faults, told, planned } = makeBundle(given);
      expect(write(1).written).toBe('reported');
      expect([faults, told, planned]).toEqual([[[1, broken]], [], []]);
    }
  });

  test('is reported if it is rejected', () => {
    const outcome: Outcome = { kind: 'gone', code: 'BadDeviceToken' };
    const { write, told, writer } = makeBundle({ partsOf: () => undefined, plan: () => ({ outcome }) });
    expect(write(0).written).toBe('reported');
    expect(told).toEqual([[0, outcome]]);
    expect(writer.plan(1)).toBeUndefined();
  });
});

const { fcm, apns, webpush } = await makeSimulatedCredentials('abcdef123456');

type Parts = { head: object; claims: object; privateKey: string };
type Forge = (parts: Parts) => string;

describe('token formats', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const seconds = now.getTime() / 1000;
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
    ['a valid signature with algorithm none', withHead({ alg: 'none' })],
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
      headers: {
        authorization: `vapid t=${token}, k=${webpush.publicKey}`,
        ttl: '60',
        'content-encoding': 'aes128gcm',
      },
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

  test('contain an ES256 signature of RFC 7518 §3.4 for APNs, which an independent library verifies', async () => {
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

  describe('the token checks of the simulators', () => {
    test('accept a valid token of each kind', async () => {
      expect(await apnsSays(withHead({})(apnsParts))).toMatchObject({ status: 200 });
      expect(await webPushSays(withHead({})(vapidParts))).toMatchObject({ status: 410 });
      expect(await fcmSays(makeAssertion({}))).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
    });

    test.each(forgeries)('reject a forgery for APNs: %s', async (_what, forge) => {
      expect(await apnsSays(forge(apnsParts))).toEqual({
        ...{ status: 403, rule: 'credentials' },
        body: { reason: 'InvalidProviderToken' },
      });
    });

    test.each(forgeries)('reject a forgery for Web Push: %s', async (_what, forge) => {
      expect(await webPushSays(forge(vapidParts))).toEqual({
        ...{ status: 403, rule: 'credentials' },
        body: 'VAPID is not valid',
      });
    });

    test.each<[string, string]>([
      ['algorithm none', `${signed({ alg: 'none' }, assertionClaims())}.`],
      ['a valid signature with algorithm none', makeAssertion({ alg: 'none' })],
      ['HMAC with the public key as its secret', hmacAssertion()],
      ['PSS where PKCS #1 is asked for', makeAssertion({ alg: 'PS256' }, { padding: constants.RSA_PKCS1_PSS_PADDING })],
      [
        'a signature of an EC key',
        `${signed({ alg: 'ES256' }, assertionClaims())}.${p1363(signed({ alg: 'ES256' }, assertionClaims()), foreign).toString('base64url')}`,
      ],
      ['empty', `${signed({ alg: 'RS256' }, assertionClaims())}.`],
      ['no JSON', 'a.b.c'],
    ])('reject a forgery at the FCM token endpoint: %s', async (_what, assertion) => {
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
});

/** A provider whose requests have the address in the path, the id as a header, and all else in the body. */
function planPlainly({ message, device }: PlanInput<object>): Planned {
  const { identity, report, content } = message;
  const body = Buffer.from(
    JSON.stringify({ to: device.pushId, tag: identity.collapseId, report, title: content.title }),
  );
  const headers = { 'content-type': 'application/json', 'x-id': identity.id };
  return { plan: { origin: 'https://push.example', path: `/${device.pushId}`, headers, body } };
}

function makeBundle(given: Given = {}) {
  const planned: string[] = [];
  const told: [number, Outcome][] = [];
  const faults: [number, unknown][] = [];
  const { pushIds = ['a', 'b', 'c'] } = given;
  const provider = {
    reads: given.reads ?? 'failures',
    texts: given.texts ?? 'copied',
    smallBodyBytes: given.smallBodyBytes ?? 4096,
    addressOf: (pushId: string) => (pushId.includes('"') ? undefined : pushId),
    plan(input: PlanInput<object>) {
      planned.push(input.device.pushId);
      return (given.plan ?? planPlainly)(input, planned.length);
    },
  } as unknown as RoutedProvider<object>;
  const batch: DeliveryBatch = {
    ...{ credentials: {}, pace: 'in turn' },
    devices: pushIds.map((pushId, number) => ({ id: String(number), platform: 'ANDROID', provider: null, pushId })),
    messageOf: given.messageOf ?? messageOf,
    partsOf: given.partsOf ?? messageOf,
    messageWith:
      given.messageWith ??
      ((place, [title]) => {
        const message = messageOf(place);
        return { ...message, content: { ...message.content, title: title! } };
      }),
    onOutcome: (place, outcome) => told.push([place, outcome]),
    onFault: (place, error) => faults.push([place, error]),
  };
  const writer = new RequestWriter({ provider, credential: {}, batch, authorization: 'bearer x' });
  const request = {
    ...{ head: new RequestHead([]), path: '', values: [], body: Buffer.alloc(0), ticket: 99 },
  } as unknown as OutgoingRequest;
  /** What is written for the place, and how. */
  const write = (place: number) => {
    const written = writer.write(place, request);
    const { head, path, values, body, ticket } = request;
    const headers = [...head.headers, ...head.names.map((name, number) => [name, values[number]])];
    return {
      written,
      ticket,
      path,
      headers: Object.fromEntries(headers) as object,
      body: Buffer.from(body).toString(),
    };
  };
  return { writer, request, write, planned, told, faults };
}

/** What the plain provider sends of the message, and by which way. */
function expected(place: number, { pushId, title = 'Title' }: { pushId: string; title?: string }) {
  const message = messageOf(place);
  const planned = planPlainly({
    ...{ device: { deviceId: '', platform: 'ANDROID', pushId }, credential: {} },
    message: { ...message, content: { ...message.content, title } },
  }) as { plan: { path: string; body: Buffer } };
  return {
    written: 'written',
    ticket: place,
    path: planned.plan.path,
    headers: { 'content-type': 'application/json', authorization: 'bearer x', 'x-id': message.identity.id },
    body: planned.plan.body.toString(),
  };
}

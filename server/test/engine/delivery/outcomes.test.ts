import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Platform } from '../../../src/domain/content/content.ts';
import { makeApnsProvider } from '../../../src/providers/apns/provider.ts';
import { makeFcmProvider } from '../../../src/providers/fcm/provider.ts';
import { makeHttp2Transport } from '../../../src/providers/http2/transport.ts';
import type { Http2Client } from '../../../src/providers/http2/transport.ts';
import { realProviderEndpoints } from '../../../src/providers/registry.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { magicTokens } from '../../../src/domain/sandbox/magic-tokens.ts';
import type { Fault } from '../../../src/domain/sandbox/faults.ts';
import { makeWebPushProvider } from '../../../src/providers/webpush/provider.ts';
import { makeLog } from '../../../src/log.ts';
import { http2Clients, startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';

// Every row of the outcome tables (delivery 1 to 3), through the real senders, over HTTP/2, from the fault
// switches of the simulators.
const switchOf = { ANDROID: 'fcm', IOS: 'apns', WEB: 'webpush' } as const;
let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;

type Row = [what: string, fault: Fault, expected: Partial<Outcome>];
type Kind = Outcome['kind'];

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Fault => ({
  status,
  body: JSON.stringify(body),
  headers,
});
const fcmError = (status: number, name: string, details: object[] = []): Fault =>
  json(status, { error: { code: status, status: name, message: 'words of the provider', details } });
const fcmCode = (errorCode: string) => ({ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode });
const violation = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'x' }],
});
const quotaFailure = (subject: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ subject, description: 'message rate exceeded' }],
});
// As reported in firebase-admin-go issue 719.
const projectQuota = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: 'RATE_LIMIT_EXCEEDED',
  domain: 'googleapis.com',
  metadata: { quota_metric: 'fcm.googleapis.com/send_requests', quota_unit: '1/min/{project}' },
};
const reason = (status: number, text: string, more: object = {}): Fault => json(status, { reason: text, ...more });
const retryAfter = (fault: Fault, value: string): Fault => ({ ...fault, headers: { 'retry-after': value } });

const fcmRows: Row[] = [
  [
    '200',
    json(200, { name: 'projects/p/messages/1' }),
    { kind: 'accepted', providerMessageId: 'projects/p/messages/1' },
  ],
  [
    '400 INVALID_ARGUMENT of the payload',
    fcmError(400, 'INVALID_ARGUMENT', [violation('message.data')]),
    { kind: 'rejected', code: 'INVALID_ARGUMENT' },
  ],
  [
    '400 INVALID_ARGUMENT of the token',
    fcmError(400, 'INVALID_ARGUMENT', [fcmCode('INVALID_ARGUMENT'), violation('message.token')]),
    { kind: 'gone', code: 'INVALID_ARGUMENT' },
  ],
  [
    '401 THIRD_PARTY_AUTH_ERROR',
    fcmError(401, 'UNAUTHENTICATED', [fcmCode('THIRD_PARTY_AUTH_ERROR')]),
    { kind: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold' },
  ],
  ['401 once: a fresh token serves', { ...fcmError(401, 'UNAUTHENTICATED'), count: 1 }, { kind: 'accepted' }],
  [
    '403 SENDER_ID_MISMATCH',
    fcmError(403, 'PERMISSION_DENIED', [fcmCode('SENDER_ID_MISMATCH')]),
    { kind: 'ambiguous', code: 'SENDER_ID_MISMATCH', ifDevice: 'suspect', ifAccount: 'hold' },
  ],
  [
    '403 PERMISSION_DENIED',
    fcmError(403, 'PERMISSION_DENIED'),
    { kind: 'ambiguous', code: 'PERMISSION_DENIED', detail: 'words of the provider', ifAccount: 'hold at once' },
  ],
  ['404 UNREGISTERED', fcmError(404, 'NOT_FOUND', [fcmCode('UNREGISTERED')]), { kind: 'gone', code: 'UNREGISTERED' }],
  ['404 of a project', fcmError(404, 'NOT_FOUND'), { kind: 'ambiguous', code: 'NOT_FOUND', ifAccount: 'hold' }],
  [
    '429 QUOTA_EXCEEDED',
    fcmError(429, 'RESOURCE_EXHAUSTED', [fcmCode('QUOTA_EXCEEDED')]),
    { kind: 'ambiguous', code: 'QUOTA_EXCEEDED', ifDevice: 'wait', ifAccount: 'pause' },
  ],
  [
    '429 of one device',
    fcmError(429, 'RESOURCE_EXHAUSTED', [fcmCode('QUOTA_EXCEEDED'), quotaFailure('device:d7Nt0k3n')]),
    { kind: 'wait', code: 'QUOTA_EXCEEDED', scope: 'device' },
  ],
  [
    '429 of one device that says how long',
    retryAfter(fcmError(429, 'RESOURCE_EXHAUSTED', [quotaFailure('d7Nt0k3n')]), '30'),
    { kind: 'wait', scope: 'device', retryAfterSeconds: 30 },
  ],
  [
    '429 whose violation names the project',
    fcmError(429, 'RESOURCE_EXHAUSTED', [fcmCode('QUOTA_EXCEEDED'), quotaFailure('project:shop')]),
    { kind: 'wait', code: 'QUOTA_EXCEEDED', scope: 'credential', retryAfterSeconds: 60 },
  ],
  [
    '429 of the sends a minute of the project, as Google’s APIs say it',
    fcmError(429, 'RESOURCE_EXHAUSTED', [projectQuota]),
    { kind: 'wait', scope: 'credential', retryAfterSeconds: 60 },
  ],
  [
    '429 with seconds',
    retryAfter(fcmError(429, 'RESOURCE_EXHAUSTED'), '7'),
    { kind: 'ambiguous', ifDevice: 'wait', retryAfterSeconds: 7 },
  ],
  [
    '429 with a date',
    retryAfter(fcmError(429, 'RESOURCE_EXHAUSTED'), 'Sat, 21 Nov 2026 12:02:00 GMT'),
    { kind: 'ambiguous', ifDevice: 'wait', retryAfterSeconds: 120 },
  ],
  [
    '400 INVALID_ARGUMENT that names no field: a malformed token, or a bad message',
    fcmError(400, 'INVALID_ARGUMENT', [fcmCode('INVALID_ARGUMENT')]),
    { kind: 'ambiguous', code: 'INVALID_ARGUMENT', ifDevice: 'suspect', ifAccount: 'none' },
  ],
  ['408', { status: 408 }, { kind: 'wait', scope: 'device' }],
  ['425', { status: 425 }, { kind: 'wait', scope: 'device' }],
  ['413 with Retry-After', retryAfter({ status: 413 }, '5'), { kind: 'wait', scope: 'device', retryAfterSeconds: 5 }],
  ['500 INTERNAL', fcmError(500, 'INTERNAL'), { kind: 'wait', code: 'INTERNAL', scope: 'device' }],
  ['503 UNAVAILABLE', fcmError(503, 'UNAVAILABLE', [fcmCode('UNAVAILABLE')]), { kind: 'wait', code: 'UNAVAILABLE' }],
  ['503 with Retry-After', retryAfter(fcmError(503, 'UNAVAILABLE'), '3'), { kind: 'wait', retryAfterSeconds: 3 }],
];

// Reasons of a 400 that are our own fault (Apple, "Handling notification responses from APNs").
const ourFaults = [
  'BadCollapseId',
  'BadExpirationDate',
  'BadMessageId',
  'BadPriority',
  'DuplicateHeaders',
  'InvalidPushType',
  'MissingDeviceToken',
  'PayloadEmpty',
];
const refusals = [
  'BadCertificate',
  'BadCertificateEnvironment',
  'Forbidden',
  'InvalidProviderToken',
  'MissingProviderToken',
  'UnrelatedKeyIdInToken',
  'BadEnvironmentKeyIdInToken',
];
const apnsRows: Row[] = [
  // Apple's id is the one that it was sent, and is not read again of a batch.
  ['200', { status: 200 }, { kind: 'accepted' }],
  ...['BadDeviceToken', 'DeviceTokenNotForTopic'].map((text): Row => [
    `400 ${text}`,
    reason(400, text),
    { kind: 'ambiguous', code: text, ifDevice: 'suspect', ifAccount: 'hold' },
  ]),
  ...['BadTopic', 'MissingTopic', 'TopicDisallowed'].map((text): Row => [
    `400 ${text}`,
    reason(400, text),
    { kind: 'ambiguous', code: text, ifDevice: 'reject', ifAccount: 'hold' },
  ]),
  ['400 IdleTimeout', reason(400, 'IdleTimeout'), { kind: 'wait', code: 'IdleTimeout', scope: 'device' }],
  ...ourFaults.map((text): Row => [`400 ${text}`, reason(400, text), { kind: 'rejected', code: text }]),
  ...refusals.map((text): Row => [`403 ${text}`, reason(403, text), { kind: 'stopped', code: text }]),
  [
    '403 ExpiredProviderToken of a token that is young',
    reason(403, 'ExpiredProviderToken'),
    { kind: 'stopped', code: 'ExpiredProviderToken' },
  ],
  ['404 BadPath', reason(404, 'BadPath'), { kind: 'rejected', code: 'BadPath' }],
  ['405 MethodNotAllowed', reason(405, 'MethodNotAllowed'), { kind: 'rejected', code: 'MethodNotAllowed' }],
  [
    '410 Unregistered',
    reason(410, 'Unregistered', { timestamp: 1_790_000_000_000 }),
    { kind: 'gone', code: 'Unregistered', goneSince: new Date(1_790_000_000_000) },
  ],
  [
    '410 ExpiredToken',
    reason(410, 'ExpiredToken', { timestamp: 1_790_000_000_000 }),
    { kind: 'gone', code: 'ExpiredToken' },
  ],
  ['413 PayloadTooLarge', reason(413, 'PayloadTooLarge'), { kind: 'rejected', code: 'PayloadTooLarge' }],
  ['429 TooManyRequests', reason(429, 'TooManyRequests'), { kind: 'wait', code: 'TooManyRequests', scope: 'device' }],
  [
    '429 TooManyProviderTokenUpdates',
    reason(429, 'TooManyProviderTokenUpdates'),
    { kind: 'wait', scope: 'credential' },
  ],
  ['500 InternalServerError', reason(500, 'InternalServerError'), { kind: 'wait', code: '500' }],
  ['503 ServiceUnavailable', reason(503, 'ServiceUnavailable'), { kind: 'wait', code: '503' }],
  ['503 Shutdown', reason(503, 'Shutdown'), { kind: 'wait', code: '503' }],
];

const webRows: Row[] = [
  [
    '201',
    { status: 201, headers: { location: 'https://push.example/m/1' } },
    { kind: 'accepted', providerMessageId: 'https://push.example/m/1' },
  ],
  ['202, with receipts', { status: 202 }, { kind: 'accepted' }],
  [
    '301 on a moved URL',
    { status: 301, headers: { location: 'https://169.254.169.254/' } },
    { kind: 'rejected', code: '301' },
  ],
  [
    '400 without TTL',
    { status: 400, body: 'TTL is required' },
    { kind: 'ambiguous', code: '400', detail: 'TTL is required', ifDevice: 'suspect' },
  ],
  ['401 VAPID is absent', { status: 401 }, { kind: 'ambiguous', code: '401', ifDevice: 'suspect' }],
  ['403 VAPID is bad', { status: 403 }, { kind: 'ambiguous', code: '403', ifDevice: 'suspect', ifAccount: 'hold' }],
  ['404', { status: 404 }, { kind: 'ambiguous', code: '404', ifDevice: 'drop', ifAccount: 'hold' }],
  [
    '406 of Windows',
    retryAfter({ status: 406 }, '9'),
    { kind: 'wait', code: '406', scope: 'device', retryAfterSeconds: 9 },
  ],
  ['406 without a time', { status: 406 }, { kind: 'wait', code: '406', scope: 'device' }],
  ['408', { status: 408 }, { kind: 'wait', scope: 'device' }],
  ['425', { status: 425 }, { kind: 'wait', scope: 'device' }],
  [
    '403 with Retry-After',
    retryAfter({ status: 403 }, '5'),
    { kind: 'ambiguous', ifDevice: 'wait', retryAfterSeconds: 5 },
  ],
  ['410', { status: 410 }, { kind: 'ambiguous', code: '410', ifDevice: 'drop' }],
  ['413', { status: 413 }, { kind: 'rejected', code: '413' }],
  ['429 with Retry-After', retryAfter({ status: 429 }, '30'), { kind: 'wait', code: '429', retryAfterSeconds: 30 }],
  ['503 of Mozilla, errno 201: back off', json(503, { code: 503, errno: 201 }), { kind: 'wait', code: '503' }],
  [
    '503 of Mozilla, errno 202: retry now',
    retryAfter(json(503, { code: 503, errno: 202 }), '0'),
    { kind: 'wait', retryAfterSeconds: 0 },
  ],
];

/** What a status means when the body says nothing that can be read. */
const byStatus: Record<Platform, [status: number, kind: Kind][]> = {
  ANDROID: [
    [200, 'accepted'],
    [400, 'rejected'],
    // Google's token service fails with it: the service account is refused.
    [401, 'stopped'],
    [403, 'ambiguous'],
    [404, 'ambiguous'],
    [413, 'rejected'],
    [418, 'rejected'],
    [429, 'ambiguous'],
    [500, 'wait'],
    [502, 'wait'],
    [503, 'wait'],
    [599, 'wait'],
  ],
  IOS: [
    [200, 'accepted'],
    [400, 'rejected'],
    [403, 'stopped'],
    [404, 'rejected'],
    [410, 'gone'],
    [413, 'rejected'],
    [418, 'rejected'],
    [429, 'wait'],
    [500, 'wait'],
    [502, 'wait'],
    [503, 'wait'],
    [599, 'wait'],
  ],
  WEB: [
    [200, 'accepted'],
    [201, 'accepted'],
    [301, 'rejected'],
    [400, 'ambiguous'],
    [401, 'ambiguous'],
    [404, 'ambiguous'],
    [410, 'ambiguous'],
    [413, 'rejected'],
    [418, 'rejected'],
    [429, 'wait'],
    [502, 'wait'],
    [503, 'wait'],
  ],
};
const hostileBodies: [what: string, body: string][] = [
  ['no body', ''],
  ['HTML', '<html><head><title>502 Bad Gateway</title></head></html>'],
  ['truncated JSON', '{"error":{"status":"NOT_FOUND","details":[{"errorCo'],
  ['a number', '7'],
  ['null', 'null'],
  ['a list', '[1,[2,[3]]]'],
  ['members of wrong types', '{"name":7,"error":"x","reason":{"a":1},"timestamp":"soon"}'],
  [
    'an error of wrong types',
    '{"name":[],"error":{"status":{"a":1},"message":[1],"details":{"x":1}},"reason":[],"timestamp":null}',
  ],
  [
    'details of wrong types',
    '{"error":{"status":5,"message":null,"details":[null,7,{"errorCode":9,"fieldViolations":"x"},{"fieldViolations":[null,3]}]}}',
  ],
  [
    'control characters and half characters',
    '{"name":"a\\u0000b\\ud800","error":{"message":"a\\u0000b\\ud800"},"reason":"\\u0000\\ud800"}',
  ],
  ['times that are none', '{"reason":"Unregistered","timestamp":1e300}'],
  ['times before time', '{"reason":"Unregistered","timestamp":-9e15}'],
  ['names of every object', '{"__proto__":{"reason":"x"},"constructor":{"name":1},"toString":null}'],
  [
    'a word of 50,000 characters',
    JSON.stringify({ name: 'x'.repeat(50_000), error: { message: 'x'.repeat(50_000) }, reason: 'x'.repeat(50_000) }),
  ],
  ['1 MB', JSON.stringify({ name: 'n', error: { message: 'x'.repeat(1_000_000) }, reason: 'x' })],
  ['lists in lists, 20,000 deep', '['.repeat(20_000)],
];
const hostileRows = (platform: Platform): Row[] =>
  byStatus[platform].flatMap(([status, kind]) =>
    hostileBodies.map(([what, body]): Row => [`${status} with ${what}`, { status, body }, { kind }]),
  );

const waits = [
  '-5',
  '',
  'soon',
  '1e9',
  '99999999999999999999',
  'NaN',
  '3, 5',
  'Sat, 21 Nov 1970 12:00:00 GMT',
  'Fri, 31 Dec 9999 23:59:59 GMT',
];
const waitRows = (kind: 'wait' | 'ambiguous'): Row[] =>
  waits.map((value) => [`429 with Retry-After "${value}"`, retryAfter({ status: 429 }, value), { kind }]);
const transportRows: Row[] = [
  ['a reset stream', { reset: true }, { kind: 'unknown', code: 'RESET' }],
  ['an answer that takes its time', { delayMilliseconds: 100 }, { kind: 'accepted' }],
  ['GOAWAY after every stream', { goawayEvery: 1 }, { kind: 'accepted' }],
  ['one stream at a time', { maxStreams: 1 }, { kind: 'accepted' }],
];

/** What a body says is read by the same code whoever carried it: all of them by Node's client with FULL=1 only. */
const tables = (http2Client: Http2Client): Record<Platform, Row[]> => {
  const hostile = http2Client === 'node' && process.env.FULL !== '1' ? () => [] : hostileRows;
  return {
    ANDROID: [...fcmRows, ...hostile('ANDROID'), ...waitRows('ambiguous'), ...transportRows],
    IOS: [...apnsRows, ...hostile('IOS'), ...waitRows('wait'), ...transportRows],
    WEB: [...webRows, ...hostile('WEB'), ...waitRows('wait'), ...transportRows],
  };
};

/** What the ledger can keep, whatever the provider said. */
function checkShape(outcome: Outcome): void {
  const texts = Object.entries(outcome).filter(([name]) => ['code', 'detail', 'providerMessageId'].includes(name));
  for (const [name, text] of texts) {
    expect(typeof text, name).toBe('string');
    expect((text as string).length, name).toBeLessThanOrEqual(500);
    expect((text as string).isWellFormed() && !/\p{Cc}/u.test(text as string), name).toBe(true);
  }
  if ((outcome.kind === 'wait' || outcome.kind === 'ambiguous') && outcome.retryAfterSeconds !== undefined) {
    expect(Number.isInteger(outcome.retryAfterSeconds)).toBe(true);
    expect(outcome.retryAfterSeconds).toBeGreaterThanOrEqual(0);
    expect(outcome.retryAfterSeconds).toBeLessThanOrEqual(86_400);
  }
  if (outcome.kind === 'gone' && outcome.goneSince !== undefined)
    expect(outcome.goneSince.getTime()).toBeLessThanOrEqual(bundle.clock.now().getTime());
}

describe.each(http2Clients)('delivery by the HTTP/2 client %s', (http2Client) => {
  beforeAll(async () => {
    bundle = await startDeliveryBundle(http2Client);
  });
  afterAll(() => bundle.stop());

  describe('a response of a provider', () => {
    const rows = tables(http2Client);
    const every = (['ANDROID', 'IOS', 'WEB'] as const).flatMap((platform) =>
      rows[platform].map(([what, fault, expected]) => ({ platform, what, fault, expected })),
    );
    test.each(every)('maps to the documented outcome: $platform: $what', async ({ platform, fault, expected }) => {
      await bundle.simulators.reset();
      // Google's token endpoint has the same switch; with a token at hand the fault strikes the message.
      expect(await bundle.send(platform)).toMatchObject({ kind: 'accepted' });
      await bundle.simulators.setFaults({ [switchOf[platform]]: fault });
      const outcome = await bundle.send(platform);
      expect(outcome).toMatchObject(expected);
      checkShape(outcome);
    });
  });

  test('renews an old provider token once if Apple calls it expired', async () => {
    await bundle.simulators.reset();
    expect(await bundle.send('IOS')).toMatchObject({ kind: 'accepted' });
    bundle.clock.advance(30 * 60_000);
    bundle.simulators.syncClock();
    await bundle.simulators.setFaults({ apns: { ...reason(403, 'ExpiredProviderToken'), count: 1 } });
    expect(await bundle.send('IOS')).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.setFaults({ apns: reason(403, 'ExpiredProviderToken') });
    expect(await bundle.send('IOS')).toMatchObject({ kind: 'stopped', code: 'ExpiredProviderToken' });
  });

  test('treats a missing response as unknown, for every provider', async () => {
    await bundle.simulators.reset();
    const { clock, credentials } = bundle;
    const log = makeLog({ level: 'silent', pretty: false });
    const transport = makeHttp2Transport({ log, allowedNetworks: [], client: http2Client, requestMilliseconds: 200 });
    const simulator = bundle.simulators.endpoints;
    const { fcm: fcmEndpoints, apns: apnsEndpoints } = realProviderEndpoints;
    const silent = magicTokens.find((magic) => magic.outcome === 'silent')!;
    const send = async (platform: Platform): Promise<Outcome> => {
      const providers = {
        ANDROID: makeFcmProvider({ clock, transport, endpoints: fcmEndpoints, simulator: simulator.fcm }),
        IOS: makeApnsProvider({
          clock,
          transport,
          endpoints: apnsEndpoints,
          simulatorOrigin: simulator.apns,
          shareToken: async ({ make }) => make(),
        }),
        WEB: makeWebPushProvider({ clock, log, transport, simulator: simulator.webpush }),
      };
      const pushId = {
        ANDROID: `${silent.fcm}-${'a'.repeat(100)}`,
        IOS: silent.apns!.padEnd(64, '0'),
        WEB: bundle.subscription(silent.webpush!),
      }[platform];
      const provider = providers[platform];
      const credential = credentials[switchOf[platform]] as never;
      const device = { deviceId: '0', platform, pushId };
      const planned = provider.plan({ message: makeMessage(platform, '0'), device, credential });
      if (!('plan' in planned)) return planned.outcome;
      return provider.classify(await provider.send(planned.plan, credential), clock.now());
    };
    for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
      expect(await send(platform)).toEqual({ kind: 'unknown', code: 'TIMEOUT' });
    await transport.close();
  });
});

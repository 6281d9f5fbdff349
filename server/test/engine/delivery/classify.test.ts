import { describe, expect, test } from 'vitest';
import {
  classifyFailure,
  readJsonAnswer,
  readWord,
  retryAfterSeconds,
  waitOf,
} from '../../../src/providers/answer-rules.ts';
import { classifyApnsAnswer } from '../../../src/providers/apns/classify.ts';
import { classifyFcmAnswer } from '../../../src/providers/fcm/classify.ts';
import { findHeaderFault, overrideHeaders } from '../../../src/providers/payload/override-headers.ts';
import type { Answer, Outcome } from '../../../src/providers/provider.ts';
import { classifyWebPushAnswer } from '../../../src/providers/webpush/classify.ts';

type Row = [what: string, given: Answer, expected: Partial<Outcome>];

describe('the classification of provider responses', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const answer = (status: number, body: unknown = '', headers: Record<string, string> = {}): Answer => ({
    kind: 'answer',
    status,
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const fcmError = (status: string, details: object[] = []) => ({
    error: { status, message: 'words of the provider', details },
  });
  const fcmCode = (errorCode: string) => ({
    '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
    errorCode,
  });
  const violation = (field: string) => ({
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: [{ field }],
  });
  const html = '<html><head><title>502 Bad Gateway</title></head></html>';

  // Rows of the design of delivery, sections 1 to 3.
  const fcmRows: Row[] = [
    [
      '200',
      answer(200, { name: 'projects/p/messages/1' }),
      { kind: 'accepted', providerMessageId: 'projects/p/messages/1' },
    ],
    ['200 with a broken body', answer(200, '{"na'), { kind: 'accepted' }],
    [
      '404 UNREGISTERED in details',
      answer(404, fcmError('NOT_FOUND', [fcmCode('UNREGISTERED')])),
      { kind: 'gone', code: 'UNREGISTERED' },
    ],
    [
      '404 without a code is a wrong project if others get it, and no dead token',
      answer(404, fcmError('NOT_FOUND')),
      { kind: 'ambiguous', code: 'NOT_FOUND', ifDevice: 'reject', ifAccount: 'hold' },
    ],
    [
      '400 that violates the token',
      answer(400, fcmError('INVALID_ARGUMENT', [violation('message.token')])),
      { kind: 'gone' },
    ],
    [
      '400 that violates the id of the installation',
      answer(400, fcmError('INVALID_ARGUMENT', [violation('message.fid')])),
      { kind: 'gone' },
    ],
    [
      '400 that violates the payload',
      answer(400, fcmError('INVALID_ARGUMENT', [violation('message.android.ttl')])),
      { kind: 'rejected', code: 'INVALID_ARGUMENT' },
    ],
    [
      '400 that violates token and payload',
      answer(400, fcmError('INVALID_ARGUMENT', [violation('message.token'), violation('message.data')])),
      { kind: 'rejected' },
    ],
    [
      '400 whose words name the token but whose details do not',
      answer(400, { error: { status: 'INVALID_ARGUMENT', message: 'message.token is bad' } }),
      { kind: 'ambiguous', ifDevice: 'suspect', ifAccount: 'none' },
    ],
    [
      '401 THIRD_PARTY_AUTH_ERROR',
      answer(401, fcmError('UNAUTHENTICATED', [fcmCode('THIRD_PARTY_AUTH_ERROR')])),
      {
        ...{ kind: 'ambiguous', code: 'THIRD_PARTY_AUTH_ERROR', ifDevice: 'reject', ifAccount: 'hold' },
        // Google's own words speak of the caller's access token.
        detail: 'Apple or the browser’s push service refuses the key that this Firebase project has for it',
      } as const,
    ],
    [
      '403 SENDER_ID_MISMATCH concerns one token, or all of a foreign project',
      answer(403, fcmError('PERMISSION_DENIED', [fcmCode('SENDER_ID_MISMATCH')])),
      { kind: 'ambiguous', code: 'SENDER_ID_MISMATCH', ifDevice: 'suspect', ifAccount: 'hold' },
    ],
    [
      '403 otherwise',
      answer(403, fcmError('PERMISSION_DENIED')),
      { kind: 'ambiguous', code: 'PERMISSION_DENIED', ifAccount: 'hold at once' },
    ],
    ['403 of the token service', answer(403, fcmError('TOKEN_REFUSED')), { kind: 'stopped', code: 'TOKEN_REFUSED' }],
    [
      '429 that does not say whose quota it is',
      answer(429, fcmError('RESOURCE_EXHAUSTED', [fcmCode('QUOTA_EXCEEDED')])),
      { kind: 'ambiguous', code: 'QUOTA_EXCEEDED', ifDevice: 'wait', ifAccount: 'pause' },
    ],
    ['429 with seconds', answer(429, '', { 'retry-after': '7' }), { kind: 'ambiguous', retryAfterSeconds: 7 }],
    [
      '429 with a date',
      answer(429, '', { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT' }),
      { kind: 'ambiguous', retryAfterSeconds: 30 },
    ],
    ['429 with nonsense', answer(429, '', { 'retry-after': 'soon' }), { kind: 'ambiguous', ifDevice: 'wait' }],
    ['500', answer(500, fcmError('INTERNAL')), { kind: 'wait', code: 'INTERNAL', scope: 'device' }],
    ['a bare 503', answer(503, ''), { kind: 'wait', code: 'FCM_503', scope: 'device' }],
    ['502 with HTML', answer(502, html), { kind: 'wait', code: 'FCM_502' }],
    ['503 with Retry-After', answer(503, '', { 'retry-after': '3' }), { kind: 'wait', retryAfterSeconds: 3 }],
    ['400 with HTML', answer(400, html), { kind: 'rejected', code: '400' }],
    ['details of a wrong type', answer(400, { error: { details: 'x', status: 'A' } }), { kind: 'rejected', code: 'A' }],
    ['null details', answer(400, { error: { details: [null], status: 'A' } }), { kind: 'rejected', code: 'A' }],
    [
      '401 without a body',
      answer(401),
      { kind: 'ambiguous', code: '401', detail: 'HTTP 401', ifDevice: 'reject', ifAccount: 'hold at once' },
    ],
    [
      'a code that is not a text, followed by one that is',
      answer(403, fcmError('A', [{ errorCode: 7 }, fcmCode('SENDER_ID_MISMATCH')])),
      { kind: 'ambiguous', code: 'SENDER_ID_MISMATCH' },
    ],
    [
      '400 with a violation of nothing',
      answer(400, fcmError('INVALID_ARGUMENT', [{ fieldViolations: [null] }])),
      { kind: 'ambiguous', ifDevice: 'suspect' },
    ],
    [
      '400 with violations of the token among other details',
      answer(400, fcmError('INVALID_ARGUMENT', [fcmCode('INVALID_ARGUMENT'), violation('message.token')])),
      { kind: 'gone', code: 'INVALID_ARGUMENT' },
    ],
    ['a body that is a number', answer(400, '7'), { kind: 'rejected', code: '400' }],
  ];

  const apnsRows: Row[] = [
    ['200', answer(200, '', { 'apns-id': 'an-id' }), { kind: 'accepted', providerMessageId: 'an-id' }],
    [
      '400 BadDeviceToken',
      answer(400, { reason: 'BadDeviceToken' }),
      { kind: 'ambiguous', code: 'BadDeviceToken', ifDevice: 'suspect', ifAccount: 'hold' },
    ],
    [
      '400 DeviceTokenNotForTopic',
      answer(400, { reason: 'DeviceTokenNotForTopic' }),
      { kind: 'ambiguous', code: 'DeviceTokenNotForTopic', ifDevice: 'suspect', ifAccount: 'hold' },
    ],
    [
      '400 otherwise is our fault',
      answer(400, { reason: 'BadCollapseId' }),
      { kind: 'rejected', code: 'BadCollapseId' },
    ],
    [
      '403 ExpiredProviderToken',
      answer(403, { reason: 'ExpiredProviderToken' }),
      { kind: 'stopped', code: 'ExpiredProviderToken' },
    ],
    [
      '403 InvalidProviderToken',
      answer(403, { reason: 'InvalidProviderToken' }),
      { kind: 'stopped', code: 'InvalidProviderToken' },
    ],
    [
      '410 with its time',
      answer(410, { reason: 'Unregistered', timestamp: 1_790_000_000_000 }),
      { kind: 'gone', code: 'Unregistered', goneSince: new Date(1_790_000_000_000) },
    ],
    ['410 without a time', answer(410, { reason: 'ExpiredToken' }), { kind: 'gone', code: 'ExpiredToken' }],
    [
      '410 with a time to come was dead at the latest now',
      answer(410, { reason: 'Unregistered', timestamp: now.getTime() + 1 }),
      { kind: 'gone', goneSince: now },
    ],
    ...[0, -1, '1790000000000', null].map((timestamp): Row => [
      `410 with ${JSON.stringify(timestamp)} for a time`,
      answer(410, { reason: 'Unregistered', timestamp }),
      { kind: 'gone', code: 'Unregistered' },
    ]),
    ['410 without a body', answer(410), { kind: 'gone', code: '410' }],
    ['200 without an id', answer(200), { kind: 'accepted' }],
    ['413', answer(413, { reason: 'PayloadTooLarge' }), { kind: 'rejected', code: 'PayloadTooLarge' }],
    [
      '429 TooManyRequests concerns the device',
      answer(429, { reason: 'TooManyRequests' }),
      { kind: 'wait', scope: 'device' },
    ],
    [
      '429 TooManyProviderTokenUpdates concerns the team',
      answer(429, { reason: 'TooManyProviderTokenUpdates' }),
      { kind: 'wait', scope: 'credential' },
    ],
    ['500', answer(500, { reason: 'InternalServerError' }), { kind: 'wait', code: '500' }],
    ['503 Shutdown', answer(503, { reason: 'Shutdown' }), { kind: 'wait', code: '503' }],
    ['a truncated body', answer(400, '{"reason":"Bad'), { kind: 'rejected', code: '400' }],
  ];

  const webRows: Row[] = [
    [
      '201',
      answer(201, '', { location: 'https://push.example/m/1' }),
      { kind: 'accepted', providerMessageId: 'https://push.example/m/1' },
    ],
    ['202', answer(202), { kind: 'accepted' }],
    ['404', answer(404), { kind: 'ambiguous', code: '404', ifDevice: 'drop', ifAccount: 'hold' }],
    ['410', answer(410), { kind: 'ambiguous', code: '410', ifDevice: 'drop', ifAccount: 'hold' }],
    ['413', answer(413), { kind: 'rejected', code: '413' }],
    [
      '429 with a date in the past waits nothing',
      answer(429, '', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }),
      { kind: 'wait', retryAfterSeconds: 0 },
    ],
    ['401', answer(401, 'no VAPID'), { kind: 'ambiguous', code: '401', ifDevice: 'suspect' }],
    ['301', answer(301), { kind: 'rejected', code: '301' }],
    ['200', answer(200), { kind: 'accepted' }],
    ['403', answer(403, ''), { kind: 'ambiguous', code: '403', detail: 'HTTP 403', ifDevice: 'suspect' }],
    [
      'a refusal in the words of the service',
      answer(400, 'bad TTL'),
      { kind: 'ambiguous', code: '400', detail: 'bad TTL', ifDevice: 'suspect' },
    ],
    [
      '400 of Windows, with its reason in headers',
      {
        ...{ kind: 'answer', status: 400, body: '' },
        headers: {
          'x-wns-error-description': 'Ttl value conflicts with X-WNS-Cache-Policy.',
          'x-wns-status': 'dropped',
          'x-wns-notificationstatus': 'dropped',
          'x-wns-deviceconnectionstatus': 'disconnected',
          'x-wns-msg-id': '4D1862580BFBB38D',
          'x-wns-debug-trace': 'SG2PEPF0002029C',
          'ms-cv': 'Cj0KCQ.0',
          'mise-correlation-id': '927f3b90',
        },
      },
      {
        kind: 'ambiguous',
        ifAccount: 'none',
        code: '400',
        detail:
          'Ttl value conflicts with X-WNS-Cache-Policy. (status dropped, notification dropped, device disconnected, message 4D1862580BFBB38D, trace SG2PEPF0002029C, MS-CV Cj0KCQ.0)',
      },
    ],
    [
      '400 of Windows without a description',
      { kind: 'answer', status: 400, body: '', headers: { 'x-wns-status': 'dropped' } },
      { kind: 'ambiguous', ifAccount: 'none', code: '400', detail: 'HTTP 400 (status dropped)' },
    ],
    [
      '400 with a reason in the body as well',
      { kind: 'answer', status: 400, body: 'no', headers: { 'x-wns-status': 'dropped' } },
      { kind: 'ambiguous', ifAccount: 'none', code: '400', detail: 'no (status dropped)' },
    ],
    [
      'a reason in headers that is too long, with control characters',
      { kind: 'answer', status: 413, body: '', headers: { 'x-wns-error-description': `a\u0000${'x'.repeat(400)}` } },
      { kind: 'rejected', code: '413', detail: `a ${'x'.repeat(298)}` },
    ],
    ['429 concerns this browser', answer(429), { kind: 'wait', code: '429', scope: 'device' }],
    ['503', answer(503, html), { kind: 'wait', code: '503' }],
  ];

  const failureRows: Row[] = [
    [
      'a refused stream was certainly not sent',
      { kind: 'failure', certainty: 'unsent', reason: 'refused', detail: '' },
      { kind: 'wait', code: 'NOT_SENT' },
    ],
    [
      'a time-out may have been sent',
      { kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: '' },
      { kind: 'unknown', code: 'TIMEOUT' },
    ],
    [
      'a reset may have been sent',
      { kind: 'failure', certainty: 'unknown', reason: 'reset', detail: '' },
      { kind: 'unknown', code: 'RESET' },
    ],
    [
      'without a connection no attempt was made',
      { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail: '' },
      { kind: 'unreached', code: 'NOT_CONNECTED' },
    ],
    [
      'a blocked address is not a device',
      { kind: 'failure', certainty: 'unsent', reason: 'address-blocked', detail: '' },
      { kind: 'gone', code: 'ADDRESS_BLOCKED' },
    ],
    ...(['proxy-unreachable', 'proxy-refused', 'proxy-auth'] as const).map((reason): Row => [
      `${reason}: no attempt was made`,
      { kind: 'failure', certainty: 'unsent', reason, detail: '' },
      { kind: 'unreached', code: reason.toUpperCase().replace('-', '_') },
    ]),
    [
      'a host that the settings do not list keeps its device',
      { kind: 'failure', certainty: 'unsent', reason: 'host-not-allowed', detail: 'why' },
      { kind: 'rejected', code: 'HOST_NOT_ALLOWED', detail: 'why' },
    ],
  ];

  test('omits members that the response does not contain', () => {
    expect(classifyFcmAnswer(answer(200), now)).toStrictEqual({ kind: 'accepted' });
    expect(classifyApnsAnswer(answer(200), now)).toStrictEqual({ kind: 'accepted' });
    expect(classifyWebPushAnswer(answer(201), now)).toStrictEqual({ kind: 'accepted' });
    expect(classifyApnsAnswer(answer(410, { reason: 'A', timestamp: 0 }), now)).toStrictEqual({
      kind: 'gone',
      code: 'A',
    });
    for (const classify of [classifyFcmAnswer, classifyApnsAnswer, classifyWebPushAnswer])
      expect(classify(answer(503), now)).not.toHaveProperty('retryAfterSeconds');
  });

  test.each(fcmRows)('FCM: %s', (_what, given, expected) =>
    expect(classifyFcmAnswer(given, now)).toMatchObject(expected),
  );
  test.each(apnsRows)('APNs: %s', (_what, given, expected) =>
    expect(classifyApnsAnswer(given, now)).toMatchObject(expected),
  );
  test.each(webRows)('Web Push: %s', (_what, given, expected) =>
    expect(classifyWebPushAnswer(given, now)).toMatchObject(expected),
  );
  test.each(failureRows)('%s, with every provider', (_what, given, expected) => {
    for (const classify of [classifyFcmAnswer, classifyApnsAnswer, classifyWebPushAnswer]) {
      expect(classify(given, now)).toMatchObject(expected);
    }
  });
});

type Failure = Extract<Answer, { kind: 'failure' }>;

describe('helpers of the classification', () => {
  const now = new Date('2026-11-21T12:00:00.500Z');

  test.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['0', 0],
    ['7', 7],
    [' 7 ', 7],
    ['999999999', 86_400],
    ['86399', 86_399],
    ['86401', 86_400],
    // No form of either, though dates could be made of them.
    ['1.5', undefined],
    ['-5', undefined],
    ['2 Jan', undefined],
    ['9'.repeat(40), 86_400],
    ['7 seconds', undefined],
    // A part of a second is waited too.
    ['Sat, 21 Nov 2026 12:00:31 GMT', 31],
    ['Saturday, 21-Nov-26 12:00:31 GMT', 31],
    ['Saturday', undefined],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['Sat, 28 Nov 2026 12:00:00 GMT', 86_400],
  ])('reads Retry-After %j as %j seconds (RFC 9110 §10.2.3)', (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
  });

  test('has a wait only if the header names one', () => {
    const waitIn = (headers: Record<string, string>) => waitOf({ kind: 'answer', status: 503, headers, body: '' }, now);
    expect(waitIn({ 'retry-after': '0' })).toStrictEqual({ retryAfterSeconds: 0 });
    expect(waitIn({})).toStrictEqual({});
    expect(waitIn({ 'retry-after': 'soon' })).toStrictEqual({});
  });

  test.each<[unknown, string | undefined]>([
    ['UNREGISTERED', 'UNREGISTERED'],
    ['', undefined],
    [7, undefined],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
    ['a\u0000b\nc\u007fd', 'a b c d'],
    ['x'.repeat(301), 'x'.repeat(300)],
    ['x'.repeat(300), 'x'.repeat(300)],
    // A pair that is cut in two leaves no half of it.
    [`${'x'.repeat(299)}😀`, `${'x'.repeat(299)}\ufffd`],
  ])('keeps a provider’s word in the form of the ledger: %j', (value, word) => {
    expect(readWord(value)).toBe(word);
  });

  test('parses a body as JSON, or returns undefined', () => {
    expect(readJsonAnswer('{"a":1}')).toEqual({ a: 1 });
    expect(readJsonAnswer('null')).toBeNull();
    for (const broken of ['', '<html>', '{"a"']) expect(readJsonAnswer(broken)).toBeUndefined();
  });

  test.each<[Failure['reason'], Failure['certainty'], object]>([
    ['address-blocked', 'unsent', { kind: 'gone', code: 'ADDRESS_BLOCKED' }],
    ['host-not-allowed', 'unsent', { kind: 'rejected', code: 'HOST_NOT_ALLOWED', detail: 'why' }],
    ['proxy-unreachable', 'unsent', { kind: 'unreached', code: 'PROXY_UNREACHABLE' }],
    ['proxy-refused', 'unsent', { kind: 'unreached', code: 'PROXY_REFUSED' }],
    ['proxy-auth', 'unsent', { kind: 'unreached', code: 'PROXY_AUTH' }],
    ['unreachable', 'unsent', { kind: 'unreached', code: 'NOT_CONNECTED' }],
    ['unresolved', 'unsent', { kind: 'unreached', code: 'HOST_NOT_FOUND' }],
    ['refused', 'unsent', { kind: 'wait', code: 'NOT_SENT', scope: 'device' }],
    ['timeout', 'unsent', { kind: 'wait', code: 'NOT_SENT', scope: 'device' }],
    ['timeout', 'unknown', { kind: 'unknown', code: 'TIMEOUT' }],
    ['reset', 'unknown', { kind: 'unknown', code: 'RESET' }],
  ])('classifies a request without a response, for the reason %s, %s', (reason, certainty, outcome) => {
    expect(classifyFailure({ kind: 'failure', reason, certainty, detail: 'why' })).toStrictEqual(outcome);
  });

  test('sets, removes or keeps headers, and takes only the suffix of Apple’s topic from the caller', () => {
    const headers = { 'apns-topic': 'test.shop', 'apns-priority': '10', 'apns-id': 'x' };
    expect(overrideHeaders({}, headers)).toEqual(headers);
    expect(overrideHeaders({ 'apns-priority': '5', 'apns-id': null, more: '1' }, headers)).toEqual({
      'apns-topic': 'test.shop',
      'apns-priority': '5',
      more: '1',
    });
    expect(overrideHeaders({ 'apns-topic': '.voip' }, headers)).toMatchObject({ 'apns-topic': 'test.shop.voip' });
  });

  test('accepts a removed header, and names the first header that cannot be sent', () => {
    expect(findHeaderFault('apns', {})).toBeUndefined();
    expect(findHeaderFault('apns', { 'apns-priority': null, 'apns-expiration': '0' })).toBeUndefined();
    expect(findHeaderFault('apns', { 'apns-priority': '5', 'apns-expiration': 'x', 'apns-collapse-id': '' })).toBe(
      'apns-expiration must be a number of seconds',
    );
    expect(findHeaderFault('webpush', { urgency: '5' })).toMatch(/^urgency /);
  });
});

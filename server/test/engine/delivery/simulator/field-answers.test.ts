import { once } from 'node:events';
import { request as requestByTls } from 'node:https';
import type { RequestOptions } from 'node:https';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import { providerNames, providers } from '../../../../src/domain/delivery/providers.ts';
import { startSimulators } from '../../../../src/providers/simulator/start-simulators.ts';
import { makeLog } from '../../../../src/log.ts';
import { startDeliveryBundle } from '../delivery-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';
import { fieldAnswer } from './field-answer.ts';

const fcmError = (errorCode: string) => ({
  '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
  errorCode,
});

describe('answers of the field', () => {
  test('FCM names the device that is limited, in the spellings of the field, and asks some to wait', () => {
    const devices = Array.from({ length: 12 }, (_, index) => `token-${String.fromCharCode(97 + index)}`);
    const answers = devices.map((device) => fieldAnswer('fcm', 'limited', device));
    const spellings = answers.map(({ body }, index) => {
      const { code, status, details } = (body as { error: Record<string, any> }).error;
      expect({ code, status, first: details[0] }).toEqual({
        ...{ code: 429, status: 'RESOURCE_EXHAUSTED', first: fcmError('QUOTA_EXCEEDED') },
      });
      expect(details[1]['@type']).toBe('type.googleapis.com/google.rpc.QuotaFailure');
      const [{ subject, description }] = details[1].violations;
      expect(description).toMatch(/^Device message rate exceeded\.?$/);
      return subject.replace(devices[index], '…');
    });
    expect([...new Set(spellings)].sort()).toEqual(['device:…', 'token:…', '…']);
    expect(new Set(answers.map(({ headers }) => headers?.['retry-after']))).toEqual(new Set([undefined, '1']));
  });

  test('FCM says of a project that is limited which quota it is, and no word of its own', () => {
    const { status, body } = fieldAnswer('fcm', 'project-limited', 'any');
    expect(status).toBe(429);
    expect(body).toMatchObject({
      error: {
        status: 'RESOURCE_EXHAUSTED',
        message: expect.stringContaining("quota metric 'Send requests'"),
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'RATE_LIMIT_EXCEEDED',
            metadata: { quota_unit: '1/min/{project}', consumer: 'projects/123' },
          },
          { '@type': 'type.googleapis.com/google.rpc.Help' },
        ],
      },
    });
    expect(JSON.stringify(body)).not.toContain('FcmError');
  });

  test.each([
    { name: 'limited-bare', code: 429, status: 'RESOURCE_EXHAUSTED', word: 'QUOTA_EXCEEDED' },
    { name: 'malformed', code: 400, status: 'INVALID_ARGUMENT', word: 'INVALID_ARGUMENT' },
    { name: 'sporadic', code: 401, status: 'UNAUTHENTICATED', word: 'THIRD_PARTY_AUTH_ERROR' },
  ] as const)('FCM answers $name with its own word and no more', ({ name, code, status, word }) => {
    expect(fieldAnswer('fcm', name, 'any')).toMatchObject({
      status: code,
      body: { error: { code, status, details: [fcmError(word)] } },
    });
  });

  test.each([
    { provider: 'apns', name: 'wrong-environment', status: 400, body: { reason: 'BadDeviceToken' } },
    { provider: 'apns', name: 'wrong-topic', status: 400, body: { reason: 'DeviceTokenNotForTopic' } },
    { provider: 'hms', name: 'limited', status: 200, body: { code: '80300011' } },
    { provider: 'hms', name: 'wrong-app', status: 200, body: { code: '80300007' } },
  ] as const)('$provider answers $name with status $status', ({ provider, name, status, body }) => {
    expect(fieldAnswer(provider, name, 'any')).toMatchObject({ status, body });
  });

  test('a push service throttles with 406, refuses an older key with 403, and a proxy knows no address', () => {
    expect(fieldAnswer('webpush', 'throttled', 'any')).toEqual({
      status: 406,
      headers: { 'retry-after': '1', 'x-wns-status': 'dropped', 'x-wns-notificationstatus': 'channelThrottled' },
    });
    expect(fieldAnswer('webpush', 'outdated-key', 'any')).toMatchObject({ status: 403 });
    expect(fieldAnswer('webpush', 'not-found', 'any')).toMatchObject({ status: 404, body: /Not Found/ });
  });
});

describe('by the simulators', () => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle();
  });
  afterEach(() => bundle.simulators.reset());
  afterAll(() => bundle.stop());

  /** The statuses and reasons that were given, oldest first. */
  const given = async (): Promise<string[]> =>
    (await bundle.simulators.refusals()).map(({ status, rule, reason }) => `${status} ${rule}: ${reason}`).reverse();

  test('an address of FCM is limited, malformed, or refused twice and then accepted', async () => {
    const long = 'a'.repeat(100);
    for (const start of ['magic-limited', 'magic-malformed'])
      await bundle.send('ANDROID', { pushId: `${start}-${long}` });
    const kinds: string[] = [];
    for (let time = 0; time < 4; time += 1)
      kinds.push((await bundle.send('IOS', { provider: 'fcm', pushId: `magic-sporadic-${long}` })).kind);
    expect(kinds.slice(2)).toEqual(['accepted', 'accepted']);
    expect(kinds.slice(0, 2)).not.toContain('accepted');
    const refused = [...new Set(await given())];
    expect(refused.slice(0, 2)).toEqual([
      '429 magic address: RESOURCE_EXHAUSTED: Quota exceeded.',
      '400 magic address: INVALID_ARGUMENT: The registration token is not a valid FCM registration token',
    ]);
    expect(refused[2]).toMatch(/^401 magic address: UNAUTHENTICATED: /);
    expect(refused).toHaveLength(3);
  });

  test('a browser is throttled, or has a subscription of an older key', async () => {
    for (const id of ['magic-throttled-1', 'magic-outdated-1'])
      await bundle.send('WEB', { pushId: bundle.subscription(id) });
    // A refused VAPID token is renewed once.
    const [throttled, outdated, ...others] = new Set(await given());
    expect(throttled).toBe('406 magic address: status 406');
    expect(outdated).toMatch(/^403 magic address: the VAPID credentials/);
    expect(others).toEqual([]);
  });

  test('a credential of the wrong environment gets one answer for every token, until it is corrected', async () => {
    await bundle.simulators.setFaults({ apns: { answer: 'wrong-environment' } });
    const send = (number: number) => bundle.send('IOS', { number, pushId: String(number).padStart(64, '0') });
    await Promise.all([1, 2, 3].map(send));
    expect(await given()).toEqual(Array(3).fill('400 fault: BadDeviceToken'));
    await bundle.simulators.setFaults({});
    expect((await send(1)).kind).toBe('accepted');
  });

  test('a share of the devices is limited once each, and the request for an access token is spared', async () => {
    const fcm = { answer: 'limited', share: 0.5, seed: 3, countPerDevice: 1 };
    await bundle.simulators.setFaults({ fcm });
    const tokens = Array.from({ length: 20 }, (_, number) => `token-${number}-${'a'.repeat(100)}`);
    const sendAll = async (): Promise<number> => {
      const outcomes: string[] = [];
      for (const [number, pushId] of tokens.entries())
        outcomes.push((await bundle.send('ANDROID', { number, pushId })).kind);
      return outcomes.filter((kind) => kind === 'accepted').length;
    };
    const first = await sendAll();
    expect(first).toBeGreaterThan(3);
    expect(first).toBeLessThan(17);
    expect(await sendAll()).toBe(20);
  });
});

describe('a push service of HTTP/1.1', () => {
  const start = (tls?: { key: string; cert: string }) =>
    startSimulators({
      ...{ clock: makeManualClock(new Date()), log: makeLog({ level: 'silent', pretty: false }), accounts: [] },
      ...{
        secret: Buffer.alloc(32, 1),
        runIn: 'this thread',
        webPushProtocol: { version: 'http/1.1', ...(tls && { tls }) },
      },
      async onDelivered() {},
    });

  test('answers without TLS, with faults and counters as over HTTP/2', async () => {
    const simulators = await start();
    try {
      const url = `${simulators.endpoints.webpush.connectTo}/push/one`;
      const answer = await fetch(url, { method: 'POST', body: 'x' });
      expect([answer.status, await answer.text()]).toEqual([401, 'VAPID is required']);
      await simulators.setFaults({ webpush: { answer: 'throttled' } });
      const throttled = await fetch(url, { method: 'POST', body: 'x' });
      expect([throttled.status, throttled.headers.get('x-wns-status')]).toEqual([406, 'dropped']);
      await simulators.setFaults({ webpush: { reset: true } });
      await expect(fetch(url, { method: 'POST', body: 'x' })).rejects.toThrow('fetch failed');
      expect((await simulators.counters()).WEB).toEqual({ received: 3, accepted: 0, refused: 3 });
    } finally {
      await simulators.stop();
    }
  });

  test('offers nothing newer over TLS', async () => {
    const tls = makeCertificate();
    const simulators = await start(tls);
    try {
      const { port } = new URL(simulators.endpoints.webpush.connectTo);
      const answered = Promise.withResolvers<{ status: number | undefined; protocol: string }>();
      const ask: RequestOptions = {
        ...{ host: '127.0.0.1', port, path: '/push/one', method: 'POST', servername: 'localhost', ca: tls.cert },
      };
      requestByTls(ask, (response) => {
        answered.resolve({ status: response.statusCode, protocol: response.httpVersion });
        response.resume();
      })
        .on('error', answered.reject)
        .end('x');
      expect(await answered.promise).toEqual({ status: 401, protocol: '1.1' });
      const offered = connect({
        host: '127.0.0.1',
        port: Number(port),
        ca: tls.cert,
        servername: 'localhost',
        ALPNProtocols: ['h2', 'http/1.1'],
      });
      await once(offered, 'secureConnect');
      expect(offered.alpnProtocol).toBe('http/1.1');
      offered.destroy();
    } finally {
      await simulators.stop();
    }
  });
});

test('every answer of the table can be given', () => {
  for (const provider of providerNames)
    for (const name of Object.keys(providers[provider].sandbox.fieldAnswers))
      expect(fieldAnswer(provider as 'fcm', name as 'limited', 'any').status).toBeGreaterThanOrEqual(200);
});

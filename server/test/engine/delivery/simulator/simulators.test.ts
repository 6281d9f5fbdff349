import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { request as requestByTls } from 'node:https';
import type { RequestOptions } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import { forAllCounters, providerNames, providers } from '../../../../src/domain/delivery/providers.ts';
import { makeLog } from '../../../../src/log.ts';
import { startSimulators } from '../../../../src/providers/simulator/start-simulators.ts';
import type { DeliveredMessage, Simulators } from '../../../../src/providers/simulator/start-simulators.ts';
import { startDeliveryBundle } from '../delivery-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';
import { fieldAnswer } from './field-answer.ts';

type Asked = { path?: string; method?: string; authorization?: string; body?: string; session?: ClientHttp2Session };

describe('running simulators', () => {
  const secretDigest = createHash('sha256').update('secret').digest('hex');
  const account = { workspaceId: 'w1', hms: { clientId: '1', secretDigest, owner: { kind: 'app' as const, id: 'a' } } };
  const start = new Date('2026-11-21T12:00:00Z');

  let simulators: Simulators;
  let clock: ReturnType<typeof makeManualClock>;
  let delivered: DeliveredMessage[];
  /** What storing a batch waits for. */
  let storing: Promise<void>;
  const sessions: ClientHttp2Session[] = [];

  beforeEach(async () => {
    clock = makeManualClock(start);
    delivered = [];
    storing = Promise.resolve();
    const starting = startSimulators({
      ...{ clock, log: makeLog({ level: 'silent', pretty: false }), accounts: [account], secret: Buffer.alloc(32, 1) },
      async onDelivered(messages) {
        await storing;
        delivered.push(...messages);
      },
      runIn: 'this thread',
    });
    simulators = await inTime(starting);
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy();
    await inTime(simulators.stop());
  });

  const tokenForm = 'grant_type=client_credentials&client_id=1&client_secret=secret';
  const messageTo = (token: string): string => JSON.stringify({ message: { token: [token], data: '{}' } });
  const send = async (token = 't1', more: Asked = {}) =>
    ask({ authorization: await authorize(), body: messageTo(token), ...more });

  test('count and answer a message, and store it in the inbox when they settle; token requests are not counted', async () => {
    const answer = await send();
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    expect(await simulators.counters()).toEqual({
      ...forAllCounters({ received: 0, accepted: 0, refused: 0 }),
      HMS: { received: 1, accepted: 1, refused: 0 },
    });
    await inTime(simulators.settle());
    expect(delivered).toMatchObject([{ workspaceId: 'w1', deviceToken: 't1' }]);
    expect(await simulators.refusals()).toEqual([]);
  });

  test('hold the next batch until the previous one is stored, and settle only then', async () => {
    const stored = Promise.withResolvers<void>();
    storing = stored.promise;
    await send('t1');
    let isSettled = false;
    const settled = simulators.settle().then(() => (isSettled = true));
    await send('t2');
    expect([isSettled, delivered]).toEqual([false, []]);
    stored.resolve();
    await inTime(settled);
    await inTime(simulators.settle());
    expect(delivered.map(({ deviceToken }) => deviceToken)).toEqual(['t1', 't2']);
  });

  test('continue with the next batch if one cannot be stored', async () => {
    storing = Promise.reject(new Error('away'));
    storing.catch(() => {});
    await send('t1');
    await inTime(simulators.settle());
    storing = Promise.resolve();
    await send('t2');
    await inTime(simulators.settle());
    expect(delivered.map(({ deviceToken }) => deviceToken)).toEqual(['t2']);
  });

  test('show the time of the sandbox on phones, and use real time for providers', async () => {
    const receivedAt = async (): Promise<number> => {
      await send();
      await inTime(simulators.settle());
      return delivered.at(-1)!.receivedAt.getTime() - start.getTime();
    };
    const hour = 3_600_000;
    expect(Math.abs(await receivedAt())).toBeLessThan(10_000);
    clock.setOffset(hour);
    simulators.syncClock();
    expect(Math.abs((await receivedAt()) - hour)).toBeLessThan(10_000);
    clock.standAt(new Date(start.getTime() - hour));
    simulators.syncClock();
    expect(await receivedAt()).toBe(0);
    const authorization = await authorize();
    clock.advance(2 * hour);
    simulators.syncClock();
    expect((await ask({ authorization, body: messageTo('t1') })).text).toContain('80200003');
  });

  test('list rejected requests, newest first, until they are reset', async () => {
    await ask({ body: messageTo('t1'), authorization: 'Bearer secret-token' });
    await send('magic-gone');
    const silent = openSession().request({
      ':path': '/v1/a/messages:send',
      ':method': 'POST',
      authorization: await authorize(),
    });
    silent.on('error', () => {});
    silent.end(messageTo('magic-silent'));
    await expect.poll(async () => (await simulators.refusals()).length).toBe(3);
    silent.close();
    const at = expect.stringMatching(/^2026-11-21T12:00:0/) as unknown;
    const shared = { at, provider: 'hms', path: '/v1/a/messages:send' };
    expect(await simulators.refusals()).toMatchObject([
      { ...shared, number: 3, device: 'magic-silent', status: null, reason: 'no answer', rule: 'magic address' },
      {
        ...shared,
        number: 2,
        device: 'magic-gone',
        status: 200,
        reason: '80300007: All tokens are invalid.',
        rule: 'magic address',
      },
      { ...shared, number: 1, device: 't1', status: 401, rule: 'credentials', headers: { authorization: 'Bearer …' } },
    ]);
    expect((await simulators.counters()).HMS).toEqual({ received: 3, accepted: 0, refused: 3 });
    await simulators.reset();
    expect([await simulators.refusals(), (await simulators.counters()).HMS]).toEqual([
      [],
      { received: 0, accepted: 0, refused: 0 },
    ]);
  });

  test('reject an unforeseen request, and serve the next one', async () => {
    const session = openSession(simulators.endpoints.webpush.connectTo);
    const { setAccounts } = simulators;
    await setAccounts([{ workspaceId: 'w1', webpush: { publicKey: 'x' } }]);
    const answer = await ask({ session, path: '/push/a', authorization: 'vapid t=a.b.c, k=x' });
    expect([answer.status, answer.text]).toEqual([403, 'VAPID is not valid']);
    await setAccounts([null as unknown as typeof account]);
    const fault = await ask({ session, path: '/push/a', authorization: 'vapid t=a.b.c, k=x' });
    expect([fault.status, fault.text]).toEqual([400, expect.stringMatching(/^The request cannot be read: /)]);
    await setAccounts([account]);
    expect((await send()).status).toBe(200);
  });

  describe('a fault', () => {
    test('replaces the response by its status, body and headers, as often as requested', async () => {
      await simulators.setFaults({ hms: { status: 503, body: 'busy', headers: { 'retry-after': '9' }, count: 1 } });
      const struck = await ask({ body: messageTo('t1') });
      expect([struck.status, struck.text, struck.headers['retry-after']]).toEqual([503, 'busy', '9']);
      expect(await simulators.refusals()).toMatchObject([{ status: 503, reason: 'busy', rule: 'fault', device: 't1' }]);
      expect((await send()).status).toBe(200);
    });

    test('has no body if none is given, and does not affect other providers', async () => {
      await simulators.setFaults({ hms: { status: 500 }, fcm: { status: 501 } });
      const struck = await ask({ body: messageTo('t1') });
      expect([struck.status, struck.text]).toEqual([500, '']);
      await simulators.setFaults({ fcm: { status: 501 } });
      expect((await send()).status).toBe(200);
    });

    test('affects one device by the beginning of its address', async () => {
      await simulators.setFaults({ hms: { device: 't2', status: 429 } });
      expect([(await send('t1')).status, (await send('t22')).status]).toEqual([200, 429]);
    });

    test('sends no response if it cuts the stream', async () => {
      const authorization = await authorize();
      await simulators.setFaults({ hms: { reset: true } });
      const cut = await ask({ authorization, body: messageTo('t1') });
      expect([cut.status, cut.code]).toEqual([undefined, 2]);
      expect(await simulators.refusals()).toMatchObject([
        { status: null, reason: 'the stream was cut', rule: 'fault' },
      ]);
      expect((await simulators.counters()).HMS).toEqual({ received: 1, accepted: 0, refused: 1 });
    });

    test('delays the response if it waits', async () => {
      const authorization = await authorize();
      await simulators.setFaults({ hms: { delayMilliseconds: 60 } });
      const askedAt = performance.now();
      expect((await ask({ authorization, body: messageTo('t1') })).status).toBe(200);
      expect(performance.now() - askedAt).toBeGreaterThan(55);
    });

    test('limits the streams in the settings of new and open connections, and ends', async () => {
      const open = openSession();
      await expect.poll(() => open.remoteSettings.maxConcurrentStreams).toBe(1_000);
      await simulators.setFaults({ hms: { maxStreams: 3 } });
      await expect.poll(() => open.remoteSettings.maxConcurrentStreams).toBe(3);
      const later = openSession();
      await expect.poll(() => later.remoteSettings.maxConcurrentStreams).toBe(3);
      await simulators.reset();
      await expect.poll(() => open.remoteSettings.maxConcurrentStreams).toBe(1_000);
    });

    test('sends GOAWAY after a number of streams, serves these and refuses later ones (RFC 9113 §6.8)', async () => {
      const authorization = await authorize();
      await simulators.setFaults({ hms: { goawayEvery: 2 } });
      const session = openSession();
      const goodbye = once(session, 'goaway');
      const answers = await Promise.all([1, 2].map(async () => ask({ session, authorization, body: messageTo('t1') })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await goodbye).slice(0, 2)).toEqual([0, 3]);
    });
  });

  test('reject an unknown fault', async () => {
    await expect(simulators.setFaults({ hms: { colour: 'red' } })).rejects.toThrow();
  });

  function openSession(origin = simulators.endpoints.hms.messagesOrigin): ClientHttp2Session {
    const session = connect(origin);
    session.on('error', () => {});
    sessions.push(session);
    return session;
  }

  async function ask({ path = '/v1/a/messages:send', method = 'POST', authorization = '', body = '', session }: Asked) {
    const stream = (session ?? openSession()).request({ ':path': path, ':method': method, authorization });
    let headers: Record<string, unknown> = {};
    let text = '';
    stream.on('response', (received) => (headers = { ...received }));
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    stream.on('error', () => {});
    stream.end(body);
    await inTime(new Promise((resolve) => stream.once('close', resolve)));
    return { status: headers[':status'], headers, text, code: stream.rstCode };
  }

  async function authorize(): Promise<string> {
    const { text } = await ask({ path: '/oauth2/v3/token', body: tokenForm });
    return `Bearer ${(JSON.parse(text) as { access_token: string }).access_token}`;
  }
});

describe('recorded answers', () => {
  const fcmError = (errorCode: string) => ({
    '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
    errorCode,
  });

  describe('the table of recorded answers', () => {
    test('names the limited device for FCM, in all recorded spellings, and asks some to wait', () => {
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

    test('names the exceeded quota of a limited FCM project, without an FCM error code', () => {
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
    ] as const)('has for FCM $name its error code only', ({ name, code, status, word }) => {
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
    ] as const)('has $provider $name with status $status', ({ provider, name, status, body }) => {
      expect(fieldAnswer(provider, name, 'any')).toMatchObject({ status, body });
    });

    test('throttles with 406, rejects an older key with 403, and returns a proxy page for an unknown address', () => {
      expect(fieldAnswer('webpush', 'throttled', 'any')).toEqual({
        status: 406,
        headers: { 'retry-after': '1', 'x-wns-status': 'dropped', 'x-wns-notificationstatus': 'channelThrottled' },
      });
      expect(fieldAnswer('webpush', 'outdated-key', 'any')).toMatchObject({ status: 403 });
      expect(fieldAnswer('webpush', 'not-found', 'any')).toMatchObject({ status: 404, body: /Not Found/ });
    });
  });

  describe('the simulators', () => {
    let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
    beforeAll(async () => {
      bundle = await startDeliveryBundle();
    });
    afterEach(() => bundle.simulators.reset());
    afterAll(() => bundle.stop());

    /** The statuses and reasons that were given, oldest first. */
    const given = async (): Promise<string[]> =>
      (await bundle.simulators.refusals()).map(({ status, rule, reason }) => `${status} ${rule}: ${reason}`).reverse();

    test('limit an FCM address, call it malformed, or reject it twice and then accept it', async () => {
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

    test('throttle a browser, or report a subscription of an older key', async () => {
      for (const id of ['magic-throttled-1', 'magic-outdated-1'])
        await bundle.send('WEB', { pushId: bundle.subscription(id) });
      // A refused VAPID token is renewed once.
      const [throttled, outdated, ...others] = new Set(await given());
      expect(throttled).toBe('406 magic address: status 406');
      expect(outdated).toMatch(/^403 magic address: the VAPID credentials/);
      expect(others).toEqual([]);
    });

    test('answer every token alike for a credential of the wrong environment, until it is corrected', async () => {
      await bundle.simulators.setFaults({ apns: { answer: 'wrong-environment' } });
      const send = (number: number) => bundle.send('IOS', { number, pushId: String(number).padStart(64, '0') });
      await Promise.all([1, 2, 3].map(send));
      expect(await given()).toEqual(Array(3).fill('400 fault: BadDeviceToken'));
      await bundle.simulators.setFaults({});
      expect((await send(1)).kind).toBe('accepted');
    });

    test('limit a share of the devices once each, and exempt the request for an access token', async () => {
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

  describe('a push service over HTTP/1.1', () => {
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

    test('responds without TLS, with faults and counters as over HTTP/2', async () => {
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

    test('offers no newer protocol over TLS', async () => {
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
        const offered = connectTls({
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

  test('has an answer for every row of the table', () => {
    for (const provider of providerNames)
      for (const name of Object.keys(providers[provider].sandbox.fieldAnswers))
        expect(fieldAnswer(provider as 'fcm', name as 'limited', 'any').status).toBeGreaterThanOrEqual(200);
  });
});

/** Simulators that never answer must not hold up what tries many of them. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), 3_000);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

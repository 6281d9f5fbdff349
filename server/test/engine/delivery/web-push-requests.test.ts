import { createECDH, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { importJWK, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { ProviderOverrides } from '../../../src/domain/content/content.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import type { WebPushCredential } from '../../../src/domain/providers/webpush.ts';
import { makeLog } from '../../../src/log.ts';
import { makeHttp2Transport } from '../../../src/providers/http2/transport.ts';
import type { BrowserMessage } from '../../../src/providers/payload/browser.ts';
import type { Answer } from '../../../src/providers/provider.ts';
import { parseSubscription } from '../../../src/providers/webpush/encrypt.ts';
import { isCurvePoint, measureWebPushMessage, planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import { makeWebPushProvider } from '../../../src/providers/webpush/provider.ts';
import { decryptWebPush } from '../../../src/providers/webpush/simulated-browser.ts';
import { makeVapidAuthorizations } from '../../../src/providers/webpush/vapid.ts';
import { listen } from '../outgoing-http/proxy-bundle.ts';
import { makeCertificate } from './make-certificate.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, failedAnswer, makeScriptedTransport } from './scripted-transport.ts';

describe('the provider', () => {
  const browser = createECDH('prime256v1');
  const p256dh = browser.generateKeys();
  const auth = randomBytes(16);
  const site = createECDH('prime256v1');
  const credential: WebPushCredential = {
    provider: 'webpush',
    publicKey: site.generateKeys('base64url'),
    privateKey: Buffer.from(site.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
    subject: 'mailto:push@shop.example',
    simulated: false,
  };
  const simulator = { origin: 'https://push.carillon.test', connectTo: 'http://127.0.0.1:1' };

  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  test('sends a message encrypted for its browser, with the token of the site', async () => {
    const { send, sent, bodies } = makeBundle(() => answerWith(201, '', { location: 'https://push.example/m/1' }));
    expect(await send()).toEqual({ kind: 'accepted', providerMessageId: 'https://push.example/m/1' });
    expect(sent[0]).toMatchObject({
      path: '/x',
      headers: { 'content-encoding': 'aes128gcm', authorization: expect.stringMatching(/^vapid t=.+, k=[\w-]{87}$/) },
    });
    const read = decryptWebPush(Buffer.from(bodies[0]!), { ecdh: browser, auth });
    expect(JSON.parse(read.toString())).toMatchObject({ title: 'Title' });
  });

  test('sends a message that was planned without keys unencrypted', async () => {
    const { provider, bodies } = makeBundle(() => answerWith(201));
    const body = Buffer.from('plain');
    await provider.send({ origin: 'https://push.example', path: '/x', headers: {}, body }, credential);
    expect(bodies[0]).toBe(body);
  });

  test('guards the address of a browser (decision D29), connects a simulated one to the simulator, and allows HTTP/1.1 for both', async () => {
    const real = makeBundle(() => answerWith(201));
    await real.send();
    expect(real.sent[0]!.target).toEqual({
      key: 'webpush:https://push.example',
      origin: 'https://push.example',
      isGuarded: true,
      fallback: 'http/1.1',
    });
    const simulated = makeBundle(() => answerWith(201), `${simulator.origin}/push/1`);
    await simulated.send();
    expect(simulated.sent[0]!.target).toEqual({
      key: `webpush:${simulator.origin}`,
      origin: simulator.origin,
      isGuarded: false,
      fallback: 'http/1.1',
      connectTo: simulator.connectTo,
    });
  });

  describe('a rejected message', () => {
    test.each([401, 403])('is sent once more with a fresh token after %d', async (status) => {
      const { send, sent } = makeBundle((number) => answerWith(number === 1 ? status : 201));
      expect(await send()).toEqual({ kind: 'accepted' });
      expect(sent).toHaveLength(2);
      expect(sent[1]!.headers.authorization).not.toBe(sent[0]!.headers.authorization);
      expect({ ...sent[1], headers: {} }).toEqual({ ...sent[0], headers: {} });
    });

    test('has its second rejection as outcome, and the next message is not tried twice', async () => {
      const { send, sent } = makeBundle(() => answerWith(403, 'no such key'));
      const rejected = {
        ...{ kind: 'ambiguous', code: '403', detail: 'no such key', ifDevice: 'suspect', ifAccount: 'hold' },
      };
      expect(await send()).toEqual(rejected);
      expect(sent).toHaveLength(2);
      expect(await send()).toEqual(rejected);
      expect(sent).toHaveLength(3);
    });

    test.each<[string, Answer]>([
      ['with 410', answerWith(410)],
      ['with 400', answerWith(400)],
      ['without a response', failedAnswer],
    ])('is not sent again if it ended %s', async (_what, answer) => {
      const { send, sent } = makeBundle(() => answer);
      await send();
      expect(sent).toHaveLength(1);
    });
  });

  describe('a message that the push service redirects', () => {
    const audienceOf = (authorization: string): unknown => {
      const claims = /^vapid t=[\w-]+\.([\w-]+)\./.exec(authorization)![1]!;
      return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { aud: unknown }).aud;
    };
    const redirect = (location: string, status = 307): Answer => answerWith(status, 'moved', { location });

    test.each([307, 308])(
      'is sent unchanged to the other origin after %d, with a token for that origin',
      async (status) => {
        const { ask, sent, bodies } = makeBundle((number) =>
          number === 1 ? redirect('https://other.example:8443/y?z=1#part', status) : answerWith(201),
        );
        expect(await ask()).toMatchObject({ kind: 'answer', status: 201 });
        expect(sent.map(({ target, path }) => [target, path])).toEqual([
          [expect.objectContaining({ origin: 'https://push.example' }), '/x'],
          [
            {
              ...{ key: 'webpush:https://other.example:8443', origin: 'https://other.example:8443' },
              ...{ isGuarded: true, fallback: 'http/1.1' },
            },
            '/y?z=1',
          ],
        ]);
        expect(sent.map(({ headers }) => audienceOf(headers.authorization!))).toEqual([
          'https://push.example',
          'https://other.example:8443',
        ]);
        const [first, second] = sent.map(({ headers }) => ({ ...headers, authorization: '' }));
        expect(second).toEqual(first);
        expect(bodies[1]).toBe(bodies[0]);
      },
    );

    test('is sent to a path with the same token', async () => {
      const { ask, sent } = makeBundle((number) => (number === 1 ? redirect('../elsewhere') : answerWith(201)));
      expect(await ask()).toMatchObject({ status: 201 });
      expect(sent[1]).toMatchObject({ target: sent[0]!.target, path: '/elsewhere' });
      expect(sent[1]!.headers.authorization).toBe(sent[0]!.headers.authorization);
    });

    test('is sent with a fresh token if the other origin rejects the first one', async () => {
      const answers = [redirect('https://other.example/y'), answerWith(401), answerWith(201)];
      const { ask, sent } = makeBundle((number) => answers[number - 1]!);
      expect(await ask()).toMatchObject({ status: 201 });
      expect(sent.map(({ target }) => target.origin)).toEqual([
        ...['https://push.example', 'https://other.example', 'https://other.example'],
      ]);
      expect(sent[2]!.headers.authorization).not.toBe(sent[1]!.headers.authorization);
    });

    test('follows two redirects, and gets the third as its response', async () => {
      const { ask, sent } = makeBundle((number) => redirect(`https://push.example/${number}`));
      expect(await ask()).toMatchObject({ status: 307, headers: { location: 'https://push.example/3' } });
      expect(sent.map(({ path }) => path)).toEqual(['/x', '/1', '/2']);
    });

    test('is not redirected after fifteen seconds', async () => {
      vi.useFakeTimers({ toFake: ['performance'] });
      try {
        const { ask, sent } = makeBundle((number) => {
          vi.advanceTimersByTime(7_500);
          return redirect(`https://push.example/${number}`);
        });
        expect(await ask()).toMatchObject({ status: 307 });
        expect(sent.map(({ path }) => path)).toEqual(['/x', '/1']);
      } finally {
        vi.useRealTimers();
      }
    });

    test.each<[string, Answer]>([
      ['of 301, after which many clients change the method', redirect('https://other.example/y', 301)],
      ['of 302, after which many clients change the method', redirect('https://other.example/y', 302)],
      ['of 303, which asks for a GET', redirect('https://other.example/y', 303)],
      ['without a place', answerWith(307)],
      ['to what is not a URL', redirect('https://')],
      ['to a place without TLS', redirect('http://other.example/y')],
      ['to another scheme', redirect('ftp://other.example/y')],
      ['to a place with credentials', redirect('https://ann:secret@other.example/y')],
      ['to a place that is longer than a subscription may be', redirect(`https://other.example/${'y'.repeat(4_096)}`)],
    ])('%s is not followed', async (_what, answer) => {
      const { ask, sent } = makeBundle(() => answer);
      expect(await ask()).toEqual(answer);
      expect(sent).toHaveLength(1);
    });

    test.each(['address-blocked', 'host-not-allowed'] as const)(
      'keeps its device and has the redirect as response if the guard blocks the target (%s)',
      async (reason) => {
        const refusal: Answer = { kind: 'failure', certainty: 'unsent', reason, detail: 'no' };
        const { ask, sent } = makeBundle((number) => (number === 1 ? redirect('https://10.0.0.1/y') : refusal));
        expect(await ask()).toEqual(redirect('https://10.0.0.1/y'));
        expect(sent[1]!.target).toMatchObject({ origin: 'https://10.0.0.1', isGuarded: true });
      },
    );

    test('waits as without a redirect if the target cannot be reached', async () => {
      const failure: Answer = { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail: 'away' };
      const { ask } = makeBundle((number) => (number === 1 ? redirect('https://other.example/y') : failure));
      expect(await ask()).toEqual(failure);
    });

    test('stays with the simulator if it began there', async () => {
      const endpoint = `${simulator.origin}/push/1`;
      const away = makeBundle(() => redirect('https://push.example/y'), endpoint);
      expect(await away.ask()).toMatchObject({ status: 307 });
      expect(away.sent).toHaveLength(1);
      const within = makeBundle((number) => (number === 1 ? redirect('/push/2') : answerWith(201)), endpoint);
      expect(await within.ask()).toMatchObject({ status: 201 });
      expect(within.sent[1]!.target).toEqual(within.sent[0]!.target);
    });

    test('is guarded as usual if it is redirected to the simulator', async () => {
      const { ask, sent } = makeBundle((number) =>
        number === 1 ? redirect(`${simulator.origin}/push/1`) : answerWith(201),
      );
      await ask();
      expect(sent[1]!.target).toMatchObject({ origin: simulator.origin, isGuarded: true });
      expect(sent[1]!.target.connectTo).toBeUndefined();
    });
  });

  function makeBundle(reply: (number: number) => Answer, endpoint = 'https://push.example/x') {
    const clock = makeManualClock(new Date('2026-11-21T12:00:00Z'));
    const bodies: Uint8Array[] = [];
    const { transport, sent } = makeScriptedTransport((_request, number) => reply(number));
    const { request } = transport;
    transport.request = (target, given) => {
      bodies.push(given.body!);
      // So that no two tokens are alike.
      clock.advance(1_000);
      return request(target, given);
    };
    const log = makeLog({ level: 'silent', pretty: false });
    const provider = makeWebPushProvider({ clock, log, transport, simulator });
    ends.push(() => provider.close());
    const keys = { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') };
    const ask = async () => {
      const device = { deviceId: '0', platform: 'WEB', pushId: JSON.stringify({ endpoint, keys }) } as const;
      const planned = provider.plan({ message: makeMessage('WEB', '0'), device, credential });
      if ('outcome' in planned) throw new Error(planned.outcome.kind);
      return provider.send(planned.plan, credential);
    };
    const send = async () => provider.classify(await ask(), clock.realNow());
    return { clock, provider, ask, send, sent, bodies };
  }
});

describe('a planned request', () => {
  // The keys of the example in RFC 8291 §5.
  const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
  const auth = 'BTBZMqHH6r4Tts7J_aSIgg';
  const subscription = { endpoint: 'https://push.example:8443/x/y?z=1', keys: { p256dh, auth } };

  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

  describe('a subscription', () => {
    test('has an address and the keys of its browser', () => {
      const read = parseSubscription(JSON.stringify({ ...subscription, expirationTime: null }))!;
      expect(read.endpoint.href).toBe(subscription.endpoint);
      expect(read.keys).toEqual({ p256dh: bytes(p256dh), auth: bytes(auth) });
    });

    test.each<[string, unknown]>([
      ['no JSON', 'x'],
      ['null', null],
      ['no address', { keys: subscription.keys }],
      ['a path as its address', { ...subscription, endpoint: '/x' }],
      ['an address without TLS', { ...subscription, endpoint: 'http://push.example/x' }],
      ['no keys', { endpoint: subscription.endpoint }],
      ['no p256dh', { ...subscription, keys: { auth } }],
      ['no auth', { ...subscription, keys: { p256dh } }],
      [
        'a p256dh one byte short',
        { ...subscription, keys: { p256dh: bytes(p256dh).subarray(0, 64).toString('base64url'), auth } },
      ],
      [
        'a p256dh in another form',
        {
          ...subscription,
          keys: { p256dh: Buffer.concat([Buffer.from([6]), bytes(p256dh).subarray(1)]).toString('base64url'), auth },
        },
      ],
      ['an auth one byte long', { ...subscription, keys: { p256dh, auth: Buffer.alloc(17).toString('base64url') } }],
    ])('is invalid: %s', (_what, given) => {
      expect(parseSubscription(given === 'x' ? 'x' : JSON.stringify(given))).toBeUndefined();
    });
  });

  describe('a point of P-256', () => {
    test('includes every key that a browser creates', () => {
      for (let count = 0; count < 5; count += 1)
        expect(isCurvePoint(createECDH('prime256v1').generateKeys())).toBe(true);
      expect(isCurvePoint(bytes(p256dh))).toBe(true);
    });

    test.each<[string, (good: Buffer) => Buffer]>([
      ['a byte of x changed', (good) => good.fill(good[1]! ^ 1, 1, 2)],
      ['a byte of y changed', (good) => good.fill(good[64]! ^ 1, 64)],
      ['one byte short', (good) => good.subarray(0, 64)],
      ['one byte long', (good) => Buffer.concat([good, Buffer.alloc(1)])],
      ['in another form', (good) => good.fill(6, 0, 1)],
      ['compressed', (good) => Buffer.concat([Buffer.from([2]), good.subarray(1, 33)])],
      ['zeros', () => Buffer.concat([Buffer.from([4]), Buffer.alloc(64)])],
      ['of another curve', () => createECDH('secp256k1').generateKeys()],
    ])('does not include %s', (_what, change) => {
      expect(isCurvePoint(change(bytes(p256dh)))).toBe(false);
    });

    test('has coordinates below the prime of the field, although larger numbers are equivalent', () => {
      // (0, √b) is on the curve; so would be (p, √b), were p taken for 0 (RFC 8291 §7).
      const y = '66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4';
      const prime = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff';
      const point = (x: string): Buffer => Buffer.from(`04${x}${y}`, 'hex');
      expect(isCurvePoint(point('0'.repeat(64)))).toBe(true);
      expect(isCurvePoint(point(prime))).toBe(false);
    });
  });

  describe('the request', () => {
    const message = makeMessage('WEB', '0');
    const plan = (given: { content?: object; pushId?: string; message?: Message } = {}) =>
      planWebPushRequest({
        message: given.message ?? ({ ...message, content: { ...message.content, ...given.content } } as BrowserMessage),
        device: { deviceId: '0', platform: 'WEB', pushId: given.pushId ?? JSON.stringify(subscription) },
        credential: {} as WebPushCredential,
      });
    const withOverride = (webpush: ProviderOverrides['webpush']) => plan({ content: { overrides: { webpush } } });

    test('has the headers of RFC 8030 §5, the whole address, and keys to encrypt for', () => {
      const planned = plan();
      if ('outcome' in planned) throw new Error('no plan');
      const { body, ...rest } = planned.plan;
      expect(rest).toEqual({
        origin: 'https://push.example:8443',
        path: '/x/y?z=1',
        headers: {
          'content-type': 'application/octet-stream',
          'content-encoding': 'aes128gcm',
          ttl: '129600',
          urgency: 'normal',
          topic: message.identity.collapseId,
        },
        encryptFor: { p256dh: bytes(p256dh), auth: bytes(auth) },
      });
      expect(JSON.parse(body.toString())).toMatchObject({ title: 'Title', message: 'Text' });
    });

    test('is not planned for an invalid subscription, whose device is dead', () => {
      const gone = { outcome: { kind: 'gone', code: 'INVALID_SUBSCRIPTION' } };
      expect(plan({ pushId: '{}' })).toEqual(gone);
      const noPoint = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
      expect(plan({ pushId: JSON.stringify({ ...subscription, keys: { p256dh: noPoint, auth } }) })).toEqual(gone);
    });

    test('has at most 3993 bytes before encryption (RFC 8291 §4)', () => {
      const measured = (length: number) =>
        measureWebPushMessage({ ...message, content: { ...message.content, message: 'x'.repeat(length) } });
      const most = 3993 - measured(0).bytes;
      expect(measured(most)).toEqual({ bytes: 3993, most: 3993, maxEverywhere: 2967 });
      expect(plan({ content: { message: 'x'.repeat(most) } })).toHaveProperty('plan');
      expect(plan({ content: { message: 'x'.repeat(most + 1) } })).toEqual({
        outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail: '3994 bytes; Web Push takes 3993' },
      });
    });

    test('has the headers of the override, without those that it removes', () => {
      expect(withOverride({ headers: { ttl: '7', topic: null } })).toHaveProperty('plan.headers', {
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        ttl: '7',
        urgency: 'normal',
      });
    });

    describe('to Windows, which accepts a TTL of 0 only with its own header', () => {
      const at = (endpoint: string) => JSON.stringify({ ...subscription, endpoint });
      const windows = at('https://wns2-par02p.notify.windows.com/w/?token=x');
      const unkept = { ...message, ttlSeconds: 0 };
      const headersOf = (given: Parameters<typeof plan>[0]) => {
        const planned = plan(given);
        if ('outcome' in planned) throw new Error('no plan');
        return planned.plan.headers;
      };

      test('has that header with a TTL of 0', () => {
        expect(headersOf({ pushId: windows, message: unkept })).toMatchObject({
          ...{ ttl: '0', 'x-wns-cache-policy': 'no-cache' },
        });
        const overrides = { webpush: { headers: { ttl: '0' } } };
        expect(headersOf({ pushId: windows, content: { overrides } })).toHaveProperty('x-wns-cache-policy', 'no-cache');
      });

      test('does not have it with another TTL or for another host', () => {
        const overrides = { webpush: { headers: { ttl: '60' } } };
        const kept = { ...unkept, content: { ...message.content, overrides } } as Message;
        for (const given of [
          { pushId: windows },
          { pushId: windows, message: kept },
          { message: unkept },
          { pushId: at('https://notify.windows.com.example.net/x'), message: unkept },
          { pushId: at('https://xnotify.windows.com/x'), message: unkept },
        ])
          expect(headersOf(given)).not.toHaveProperty('x-wns-cache-policy');
      });
    });

    test('is not sent if the override makes it invalid', () => {
      const rejected = (detail: string) => ({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
      expect(withOverride({ headers: { ttl: 'soon' } })).toEqual(rejected('ttl must be a number of seconds'));
      expect(withOverride({ payload: { title: ' ' } })).toEqual(rejected('the title must be a text'));
      const content = { ...message.content, overrides: { webpush: { payload: { title: ' ' } } } };
      expect(measureWebPushMessage({ ...message, content })).toMatchObject({ bytes: 0, most: 3993 });
    });

    test('is for browsers only', () => {
      expect(() => plan({ message: makeMessage('IOS', '0') })).toThrow('Web Push serves browsers, not IOS');
    });
  });
});

describe('a redirected push', () => {
  const certificate = makeCertificate();
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
  afterAll(() => setDefaultCACertificates(before));

  const browser = createECDH('prime256v1');
  const p256dh = browser.generateKeys();
  const auth = randomBytes(16);
  const site = createECDH('prime256v1');
  const credential: WebPushCredential = {
    ...{ provider: 'webpush', subject: 'mailto:push@shop.example', simulated: false },
    publicKey: site.generateKeys('base64url'),
    privateKey: Buffer.from(site.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
  };

  const redirectTo =
    (location: string): RequestListener =>
    (request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(307, { location }).end());
    };

  test('arrives whole if a push service over HTTP/1.1 redirects it to one over HTTP/2', async () => {
    const got: { method: string; body: Buffer; authorization: string | undefined }[] = [];
    const other = createSecureServer(certificate, (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { authorization } = request.headers;
        got.push({ method: request.method, body: Buffer.concat(pieces), authorization });
        response.writeHead(201).end();
      });
    });
    const to = await serve(other);
    const from = await serve(createHttpsServer(certificate, redirectTo(`${to}/new`)));
    expect(await makeSender()(`${from}/old`)).toMatchObject({ kind: 'answer', status: 201 });
    expect(got).toHaveLength(1);
    expect(got[0]!.method).toBe('POST');
    const claims = Buffer.from(got[0]!.authorization!.split('.')[1]!, 'base64url').toString();
    expect(JSON.parse(claims)).toMatchObject({ aud: to });
    const read = decryptWebPush(got[0]!.body, { ecdh: browser, auth });
    expect(JSON.parse(read.toString())).toMatchObject({ title: 'Title' });
  });

  test.each(['https://10.0.0.1/admin', 'https://169.254.169.254/latest/meta-data/', 'https://[::ffff:10.0.0.1]/'])(
    'gets the redirect to %s as response, because the guard blocks the target',
    async (location) => {
      const from = await serve(createHttpsServer(certificate, redirectTo(location)));
      expect(await makeSender()(`${from}/old`)).toMatchObject({ kind: 'answer', status: 307, headers: { location } });
    },
  );

  test('is sent three times by a push service that redirects in a loop', async () => {
    const paths: string[] = [];
    const from = await serve(
      createHttpsServer(certificate, (request, response) => {
        paths.push(request.url!);
        redirectTo(request.url === '/a' ? '/b' : '/a')(request, response);
      }),
    );
    expect(await makeSender()(`${from}/a`)).toMatchObject({ kind: 'answer', status: 307 });
    expect(paths).toEqual(['/a', '/b', '/a']);
  });

  function makeSender() {
    const log = makeLog({ level: 'silent', pretty: false });
    const transport = makeHttp2Transport({ log, allowedNetworks: ['127.0.0.0/8', '::1/128'] });
    const clock = makeManualClock(new Date('2026-11-21T12:00:00Z'));
    const provider = makeWebPushProvider({ clock, log, transport, simulator: undefined });
    onTestFinished(async () => {
      await transport.close();
      await provider.close();
    });
    return (endpoint: string) => {
      const keys = { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') };
      const device = { deviceId: '0', platform: 'WEB', pushId: JSON.stringify({ endpoint, keys }) } as const;
      const planned = provider.plan({ message: makeMessage('WEB', '0'), device, credential });
      if ('outcome' in planned) throw new Error(planned.outcome.kind);
      return provider.send(planned.plan, credential);
    };
  }
});

describe('VAPID authorization', () => {
  const now = new Date('2026-11-21T12:00:00Z');

  // The example of RFC 8292 §2.4.
  const example =
    'vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsIn' +
    'N1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L' +
    '9OkSSHzvoD1oA, k=BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs';

  test('is built like the example of RFC 8292 §2.4, and both verify', async () => {
    const credential = makeSite();
    const authorizations = makeVapidAuthorizations({ clock: makeManualClock(now) });
    const theirs = await readVapid(example, new Date(1_453_500_000_000));
    const header = authorizations.get(credential, 'https://push.example.net');
    const ours = await readVapid(header, now);
    expect(theirs).toMatchObject({
      protectedHeader: { typ: 'JWT', alg: 'ES256' },
      payload: { aud: 'https://push.example.net', exp: 1_453_523_768, sub: 'mailto:push@example.com' },
      signatureBytes: 64,
    });
    expect(ours.protectedHeader).toEqual(theirs.protectedHeader);
    expect(Object.keys(ours.payload)).toEqual(Object.keys(theirs.payload));
    expect(ours.signatureBytes).toBe(theirs.signatureBytes);
    expect(ours.payload).toMatchObject({ aud: 'https://push.example.net', sub: credential.subject });
    expect(header.endsWith(`, k=${credential.publicKey}`)).toBe(true);
  });

  test('ends within 24 hours (RFC 8292 §2), and is shared by every message for half of its lifetime', async () => {
    const credential = makeSite();
    const clock = makeManualClock(now);
    const authorizations = makeVapidAuthorizations({ clock });
    const first = authorizations.get(credential, 'https://push.example.net');
    const { payload } = await readVapid(first, now);
    const seconds = payload.exp! - now.getTime() / 1000;
    expect(seconds).toBeGreaterThan(3600);
    expect(seconds).toBeLessThanOrEqual(24 * 3600);
    expect(authorizations.get(credential, 'https://push.example.net')).toBe(first);
    expect(authorizations.get(credential, 'https://other.example.net')).not.toBe(first);
    clock.advance((seconds / 2) * 1000);
    expect(authorizations.get(credential, 'https://push.example.net')).not.toBe(first);
  });

  test('is not used if it was signed while the clock was ahead', async () => {
    const credential = makeSite();
    const clock = makeManualClock(new Date(now.getTime() + 24 * 3_600_000));
    const authorizations = makeVapidAuthorizations({ clock });
    authorizations.get(credential, 'https://push.example.net');
    clock.anchor(now);
    const { payload } = await readVapid(authorizations.get(credential, 'https://push.example.net'), now);
    expect(payload.exp! - now.getTime() / 1000).toBeLessThanOrEqual(24 * 3600);
  });

  test('is replaced once if a push service rejects it, and its successor only after twenty minutes', () => {
    const credential = makeSite();
    const clock = makeManualClock(now);
    const authorizations = makeVapidAuthorizations({ clock });
    const origin = 'https://push.example.net';
    const first = authorizations.get(credential, origin);
    const second = authorizations.replace(credential, { origin, refused: first });
    expect(second).not.toBe(first);
    expect(authorizations.replace(credential, { origin, refused: first })).toBe(second);
    expect(authorizations.get(credential, origin)).toBe(second);
    expect(authorizations.replace(credential, { origin, refused: second! })).toBeUndefined();
    clock.advance(21 * 60_000);
    expect(authorizations.replace(credential, { origin, refused: second! })).not.toBe(second);
  });

  describe('kept tokens', () => {
    const origin = 'https://push.example.net';
    const makeBundle = (at = now) => {
      const credential = makeSite();
      const clock = makeManualClock(at);
      return { clock, credential, authorizations: makeVapidAuthorizations({ clock }) };
    };

    test('have an expiry in whole seconds, and are used for six hours to the millisecond', async () => {
      const { clock, credential, authorizations } = makeBundle(new Date(now.getTime() + 900));
      const first = authorizations.get(credential, origin);
      expect((await readVapid(first, now)).payload.exp).toBe(now.getTime() / 1000 + 12 * 3600);
      clock.advance(6 * 3_600_000 - 1);
      expect(authorizations.get(credential, origin)).toBe(first);
      clock.advance(1);
      expect(authorizations.get(credential, origin)).not.toBe(first);
    });

    test('are separate for another contact or key of the site', async () => {
      const { credential, authorizations } = makeBundle();
      const first = authorizations.get(credential, origin);
      const subject = 'mailto:other@example.com';
      expect((await readVapid(authorizations.get({ ...credential, subject }, origin), now)).payload.sub).toBe(subject);
      const other = makeSite();
      expect(authorizations.get(other, origin)).toMatch(new RegExp(`k=${other.publicKey}$`));
      expect(authorizations.get(credential, origin)).toBe(first);
    });

    test('are replaced after a rejection even if none is kept', () => {
      const { credential, authorizations } = makeBundle();
      expect(authorizations.replace(credential, { origin, refused: 'of another process' })).toMatch(/^vapid t=/);
    });

    test('are replaced at least twenty minutes apart, whatever is signed in the meantime', () => {
      const { clock, credential, authorizations } = makeBundle();
      const first = authorizations.get(credential, origin);
      const second = authorizations.replace(credential, { origin, refused: first })!;
      clock.advance(20 * 60_000 - 1);
      expect(authorizations.replace(credential, { origin, refused: second })).toBeUndefined();
      clock.advance(1);
      const third = authorizations.replace(credential, { origin, refused: second })!;
      expect(third).toMatch(/^vapid t=/);
      expect(third).not.toBe(second);
    });
  });
});

async function serve(server: { listen: Server['listen']; close(): unknown }): Promise<string> {
  const port = await listen(server as Server);
  onTestFinished(() => void server.close());
  return `https://localhost:${port}`;
}

function makeSite(): WebPushCredential {
  const ecdh = createECDH('prime256v1');
  const publicKey = ecdh.generateKeys('base64url');
  return {
    provider: 'webpush',
    publicKey,
    privateKey: Buffer.from(ecdh.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
    subject: 'mailto:push@shop.example',
    simulated: false,
  };
}

/** Reads the header as a push service does, with a library that has nothing of ours. */
async function readVapid(header: string, currentDate: Date) {
  const [, token, publicKey] = /^vapid t=([^,]+), k=([\w-]+)$/.exec(header)!;
  const point = Buffer.from(publicKey!, 'base64url');
  expect([point.length, point[0]]).toEqual([65, 4]);
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x: x!, y: y! }, 'ES256');
  const { protectedHeader, payload } = await jwtVerify(token!, key, { currentDate, algorithms: ['ES256'] });
  return { protectedHeader, payload, signatureBytes: Buffer.from(token!.split('.')[2]!, 'base64url').length };
}

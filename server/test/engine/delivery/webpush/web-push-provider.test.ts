import { createECDH, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import type { WebPushCredential } from '../../../../src/domain/providers/webpush.ts';
import { decryptWebPush } from '../../../../src/providers/webpush/simulated-browser.ts';
import { makeWebPushProvider } from '../../../../src/providers/webpush/provider.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { makeLog } from '../../../../src/log.ts';
import { makeMessage } from '../make-message.ts';
import { answerWith, failedAnswer, makeScriptedTransport } from '../scripted-transport.ts';

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

test('a message arrives encrypted for its browser, with the site’s token', async () => {
  const { send, sent, bodies } = makeBundle(() => answerWith(201, '', { location: 'https://push.example/m/1' }));
  expect(await send()).toEqual({ kind: 'accepted', providerMessageId: 'https://push.example/m/1' });
  expect(sent[0]).toMatchObject({
    path: '/x',
    headers: { 'content-encoding': 'aes128gcm', authorization: expect.stringMatching(/^vapid t=.+, k=[\w-]{87}$/) },
  });
  const read = decryptWebPush(Buffer.from(bodies[0]!), { ecdh: browser, auth });
  expect(JSON.parse(read.toString())).toMatchObject({ title: 'Title' });
});

test('what was planned without keys to encrypt for goes as it is', async () => {
  const { provider, bodies } = makeBundle(() => answerWith(201));
  const body = Buffer.from('plain');
  await provider.send({ origin: 'https://push.example', path: '/x', headers: {}, body }, credential);
  expect(bodies[0]).toBe(body);
});

test('the address of a browser is guarded (decision D29), that of the simulator is led to it, and both may speak HTTP/1.1', async () => {
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

describe('a message that is refused', () => {
  test.each([401, 403])('with %d is sent once more with a fresh token', async (status) => {
    const { send, sent } = makeBundle((number) => answerWith(number === 1 ? status : 201));
    expect(await send()).toEqual({ kind: 'accepted' });
    expect(sent).toHaveLength(2);
    expect(sent[1]!.headers.authorization).not.toBe(sent[0]!.headers.authorization);
    expect({ ...sent[1], headers: {} }).toEqual({ ...sent[0], headers: {} });
  });

  test('again is the browser’s outcome, and the next is not tried twice', async () => {
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
    ['by nobody, since there was no answer', failedAnswer],
  ])('%s is not', async (_what, answer) => {
    const { send, sent } = makeBundle(() => answer);
    await send();
    expect(sent).toHaveLength(1);
  });
});

describe('a message whose push service answers with a redirect', () => {
  const audienceOf = (authorization: string): unknown => {
    const claims = /^vapid t=[\w-]+\.([\w-]+)\./.exec(authorization)![1]!;
    return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { aud: unknown }).aud;
  };
  const redirect = (location: string, status = 307): Answer => answerWith(status, 'moved', { location });

  test.each([307, 308])('of %d is sent to the other place as it was, with a token for that origin', async (status) => {
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
  });

  test('to a path is sent there with the same token', async () => {
    const { ask, sent } = makeBundle((number) => (number === 1 ? redirect('../elsewhere') : answerWith(201)));
    expect(await ask()).toMatchObject({ status: 201 });
    expect(sent[1]).toMatchObject({ target: sent[0]!.target, path: '/elsewhere' });
    expect(sent[1]!.headers.authorization).toBe(sent[0]!.headers.authorization);
  });

  test('is sent with a fresh token where the other place refuses the first one', async () => {
    const answers = [redirect('https://other.example/y'), answerWith(401), answerWith(201)];
    const { ask, sent } = makeBundle((number) => answers[number - 1]!);
    expect(await ask()).toMatchObject({ status: 201 });
    expect(sent.map(({ target }) => target.origin)).toEqual([
      ...['https://push.example', 'https://other.example', 'https://other.example'],
    ]);
    expect(sent[2]!.headers.authorization).not.toBe(sent[1]!.headers.authorization);
  });

  test('is followed twice, and the third redirect is the answer', async () => {
    const { ask, sent } = makeBundle((number) => redirect(`https://push.example/${number}`));
    expect(await ask()).toMatchObject({ status: 307, headers: { location: 'https://push.example/3' } });
    expect(sent.map(({ path }) => path)).toEqual(['/x', '/1', '/2']);
  });

  test('is not followed after fifteen seconds', async () => {
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
    'to a place that the guard refuses (%s) has the redirect as its answer, and the device is kept',
    async (reason) => {
      const refusal: Answer = { kind: 'failure', certainty: 'unsent', reason, detail: 'no' };
      const { ask, sent } = makeBundle((number) => (number === 1 ? redirect('https://10.0.0.1/y') : refusal));
      expect(await ask()).toEqual(redirect('https://10.0.0.1/y'));
      expect(sent[1]!.target).toMatchObject({ origin: 'https://10.0.0.1', isGuarded: true });
    },
  );

  test('to a place that cannot be reached waits as without a redirect', async () => {
    const failure: Answer = { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail: 'away' };
    const { ask } = makeBundle((number) => (number === 1 ? redirect('https://other.example/y') : failure));
    expect(await ask()).toEqual(failure);
  });

  test('from the simulator stays there', async () => {
    const endpoint = `${simulator.origin}/push/1`;
    const away = makeBundle(() => redirect('https://push.example/y'), endpoint);
    expect(await away.ask()).toMatchObject({ status: 307 });
    expect(away.sent).toHaveLength(1);
    const within = makeBundle((number) => (number === 1 ? redirect('/push/2') : answerWith(201)), endpoint);
    expect(await within.ask()).toMatchObject({ status: 201 });
    expect(within.sent[1]!.target).toEqual(within.sent[0]!.target);
  });

  test('to the simulator is guarded as any other', async () => {
    const { ask, sent } = makeBundle((number) =>
      number === 1 ? redirect(`${simulator.origin}/push/1`) : answerWith(201),
    );
    await ask();
    expect(sent[1]!.target).toMatchObject({ origin: simulator.origin, isGuarded: true });
    expect(sent[1]!.target.connectTo).toBeUndefined();
  });
});

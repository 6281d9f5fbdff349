import { createECDH, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import type { WebPushCredential } from '../../../../src/domain/provider-credential.ts';
import { decryptWebPush } from '../../../../src/engine/delivery/simulator/decrypt-web-push.ts';
import { makeWebPushProvider } from '../../../../src/engine/delivery/webpush/make-web-push-provider.ts';
import type { Answer } from '../../../../src/engine/delivery/provider.ts';
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
  const send = async () => {
    const device = { deviceId: '0', platform: 'WEB', pushId: JSON.stringify({ endpoint, keys }) } as const;
    const planned = provider.plan({ message: makeMessage('WEB', '0'), device, credential });
    if ('outcome' in planned) return planned.outcome;
    return provider.classify(await provider.send(planned.plan, credential), clock.realNow());
  };
  return { clock, provider, send, sent, bodies };
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

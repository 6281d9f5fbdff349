import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import type { FcmCredential } from '../../../../src/domain/providers/fcm.ts';
import { makeFcmProvider } from '../../../../src/providers/fcm/provider.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { makeMessage } from '../make-message.ts';
import { answerWith, makeScriptedTransport } from '../scripted-transport.ts';
import type { SentRequest } from '../scripted-transport.ts';

const now = new Date('2026-11-21T12:00:00Z');
const endpoints = { messagesOrigin: 'https://fcm.googleapis.com', tokenOrigin: 'https://oauth2.googleapis.com' };
const simulator = { messagesOrigin: 'http://127.0.0.1:1', tokenOrigin: 'http://127.0.0.1:2' };
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const credential: FcmCredential = {
  provider: 'fcm',
  projectId: 'shop',
  clientEmail: 'a@shop.iam.gserviceaccount.com',
  privateKeyId: 'KEY1',
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  simulated: false,
};
const device = { deviceId: '0', platform: 'ANDROID', pushId: 'TOKEN' } as const;

/** Google, whose token service gives out `token-1`, `token-2`, …; `reply` answers messages. */
function makeBundle({
  reply = () => answerWith(200, { name: 'id' }),
  tokenReply,
  isSimulated = true,
}: {
  reply?: (request: SentRequest) => Answer;
  tokenReply?: () => Answer;
  isSimulated?: boolean;
} = {}) {
  const clock = makeManualClock(now);
  let tokens = 0;
  const { transport, sent } = makeScriptedTransport((request) => {
    if (request.path !== '/token') return reply(request);
    tokens += 1;
    return tokenReply?.() ?? answerWith(200, { access_token: `token-${tokens}`, expires_in: 3600 });
  });
  const provider = makeFcmProvider({ clock, transport, endpoints, simulator: isSimulated ? simulator : undefined });
  const send = async (given: FcmCredential = credential) => {
    const planned = provider.plan({ message: makeMessage('ANDROID', '0'), device, credential: given });
    if ('outcome' in planned) return planned.outcome;
    return provider.classify(await provider.send(planned.plan, given), clock.realNow());
  };
  return { clock, provider, sent, send };
}

test('a message goes with a token that the service account asked for by a signed assertion (RFC 7523 §2.1)', async () => {
  const { send, sent } = makeBundle();
  expect(await send()).toEqual({ kind: 'accepted', providerMessageId: 'id' });
  const [asked, message] = sent;
  expect(asked).toMatchObject({
    target: { key: 'fcm:tokenOrigin:false:a@shop.iam.gserviceaccount.com', origin: endpoints.tokenOrigin },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(asked!.target).toEqual({ ...asked!.target, isGuarded: false });
  expect(asked!.target).not.toHaveProperty('connectTo');
  const form = new URLSearchParams(asked!.body);
  expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
  const { protectedHeader, payload } = await jwtVerify(form.get('assertion')!, createPublicKey(privateKey), {
    currentDate: now,
  });
  expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'KEY1' });
  expect(payload).toEqual({
    iss: credential.clientEmail,
    scope: 'https://www.googleapis.com/auth/firebase.messaging',
    aud: 'https://oauth2.googleapis.com/token',
    iat: now.getTime() / 1000,
    exp: now.getTime() / 1000 + 3600,
  });
  expect(message).toMatchObject({
    target: { key: 'fcm:messagesOrigin:false:a@shop.iam.gserviceaccount.com', origin: endpoints.messagesOrigin },
    path: '/v1/projects/shop/messages:send',
    headers: { authorization: 'Bearer token-1', 'content-type': 'application/json; charset=utf-8' },
  });
});

test('a token serves until five minutes before its end', async () => {
  const { clock, send, sent } = makeBundle();
  await send();
  clock.advance(55 * 60_000 - 1);
  await send();
  expect(sent.filter(({ path }) => path === '/token')).toHaveLength(1);
  clock.advance(1);
  await send();
  expect(sent.at(-1)!.headers.authorization).toBe('Bearer token-2');
});

test('another key, or another account, has tokens of its own', async () => {
  const { send, sent } = makeBundle();
  await send();
  await send({ ...credential, privateKeyId: 'KEY2' });
  await send({ ...credential, clientEmail: 'b@shop.test' });
  await send();
  expect(sent.filter(({ path }) => path !== '/token').map(({ headers }) => headers.authorization)).toEqual(
    ['1', '2', '3', '1'].map((number) => `Bearer token-${number}`),
  );
});

describe('a message that is refused with 401', () => {
  const refused = answerWith(401, { error: { status: 'UNAUTHENTICATED', message: 'old' } });

  test('is sent once more with another token', async () => {
    const { send, sent } = makeBundle({
      reply: ({ headers }) => (headers.authorization === 'Bearer token-1' ? refused : answerWith(200)),
    });
    expect(await send()).toEqual({ kind: 'accepted' });
    expect(sent.map(({ path }) => path.slice(0, 6))).toEqual(['/token', '/v1/pr', '/token', '/v1/pr']);
  });

  test('and then no more', async () => {
    const { send, sent } = makeBundle({ reply: () => refused });
    expect(await send()).toEqual({
      ...{ kind: 'ambiguous', code: 'UNAUTHENTICATED', detail: 'old' },
      ...{ ifDevice: 'reject', ifAccount: 'hold at once' },
    });
    expect(sent).toHaveLength(4);
  });

  test.each<[string, Answer]>([
    [
      'Apple refuses Firebase’s key',
      answerWith(401, { error: { details: [{ errorCode: 'THIRD_PARTY_AUTH_ERROR' }] } }),
    ],
    ['another status', answerWith(403, { error: { status: 'PERMISSION_DENIED' } })],
    ['no answer', { kind: 'failure', certainty: 'unknown', reason: 'reset', detail: '' }],
  ])('is not for its token where %s', async (_what, answer) => {
    const { send, sent } = makeBundle({ reply: () => answer });
    await send();
    expect(sent).toHaveLength(2);
  });
});

describe('what the token service says', () => {
  test.each<[Answer, object]>([
    [
      answerWith(400, { error: 'invalid_grant' }),
      {
        kind: 'stopped',
        code: 'TOKEN_REFUSED',
        detail: 'the service account was refused: {"error":"invalid_grant"}',
      },
    ],
    [answerWith(200, { token: 'none' }), { kind: 'stopped', code: 'TOKEN_REFUSED' }],
    [answerWith(503, '', { 'retry-after': '7' }), { kind: 'wait', code: 'FCM_503', retryAfterSeconds: 7 }],
    [answerWith(500), { kind: 'wait', code: 'FCM_500' }],
    [answerWith(429), { kind: 'ambiguous', code: '429', ifDevice: 'wait', ifAccount: 'pause' }],
    [
      { kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: '' },
      { kind: 'unknown', code: 'TIMEOUT' },
    ],
  ])('%j decides the message, which is not sent', async (said, outcome) => {
    const { send, sent } = makeBundle({ tokenReply: () => said });
    expect(await send()).toMatchObject(outcome);
    expect(sent.map(({ path }) => path)).toEqual(['/token']);
  });

  test('is kept short', async () => {
    const { provider } = makeBundle({ tokenReply: () => answerWith(400, 'x'.repeat(5_000)) });
    const found = await provider.access.find(credential);
    const body = 'refusal' in found && found.refusal.kind === 'answer' ? found.refusal.body : '';
    expect(body.match(/x+/)![0]).toHaveLength(300);
  });
});

describe('a simulated account', () => {
  const simulated = { ...credential, simulated: true };

  test('is led to the simulators under the names of Google, on connections of its own', async () => {
    const { send, sent } = makeBundle();
    await send(simulated);
    expect(sent.map(({ target }) => target)).toEqual([
      {
        key: 'fcm:tokenOrigin:true:a@shop.iam.gserviceaccount.com',
        origin: endpoints.tokenOrigin,
        connectTo: simulator.tokenOrigin,
        isGuarded: false,
      },
      {
        key: 'fcm:messagesOrigin:true:a@shop.iam.gserviceaccount.com',
        origin: endpoints.messagesOrigin,
        connectTo: simulator.messagesOrigin,
        isGuarded: false,
      },
    ]);
  });

  test('reaches nobody where there are no simulators', async () => {
    const { send, sent } = makeBundle({ isSimulated: false });
    await expect(send(simulated)).rejects.toThrow('a simulated credential without simulators');
    expect(sent).toEqual([]);
  });
});

test('a token of a device is written into a form when JSON writes it as it is', () => {
  const { addressOf, reads, texts } = makeBundle().provider;
  for (const plain of ['', 'abc:DEF-_', ' !#[]~', 'x'.repeat(200)]) expect(addressOf(plain)).toBe(plain);
  for (const other of ['"', 'a\\b', 'é', 'a\nb', '\u007f', 'a"']) expect(addressOf(other)).toBeUndefined();
  expect([reads, texts]).toEqual(['bodies', 'copied']);
});

import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import type { HmsCredential } from '../../../../src/domain/providers/hms.ts';
import { makeHmsProvider } from '../../../../src/providers/hms/provider.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { makeMessage } from '../make-message.ts';
import { answerWith, makeScriptedTransport } from '../scripted-transport.ts';
import type { SentRequest } from '../scripted-transport.ts';

const now = new Date('2026-11-21T12:00:00Z');
const endpoints = {
  messagesOrigin: 'https://push-api.cloud.huawei.com',
  tokenOrigin: 'https://oauth-login.cloud.huawei.com',
};
const simulator = { messagesOrigin: 'http://127.0.0.1:1', tokenOrigin: 'http://127.0.0.1:2' };
const credential: HmsCredential = {
  provider: 'hms',
  clientId: '10',
  clientSecret: 's&cret',
  owner: { kind: 'project', id: '42' },
  simulated: false,
};
const tokenPath = '/oauth2/v3/token';
const accepted = answerWith(200, { code: '80000000', requestId: 'r' });

function makeBundle({
  reply = () => accepted,
  tokenReply,
}: { reply?: (request: SentRequest) => Answer; tokenReply?: Answer } = {}) {
  const clock = makeManualClock(now);
  let tokens = 0;
  const { transport, sent } = makeScriptedTransport((request) => {
    if (request.path !== tokenPath) return reply(request);
    tokens += 1;
    return tokenReply ?? answerWith(200, { access_token: `token-${tokens}`, expires_in: 3600 });
  });
  const provider = makeHmsProvider({ clock, transport, endpoints, simulator });
  const device = { deviceId: '0', platform: 'ANDROID', provider: 'hms', pushId: 'TOKEN' } as const;
  const send = async (given = credential) => {
    const planned = provider.plan({ message: makeMessage('ANDROID', '0'), device, credential: given });
    if ('outcome' in planned) return planned.outcome;
    return provider.classify(await provider.send(planned.plan, given), clock.realNow());
  };
  return { clock, provider, sent, send };
}

test('a message goes with a token that the client asked for with its secret', async () => {
  const { send, sent } = makeBundle();
  expect(await send()).toEqual({ kind: 'accepted', providerMessageId: 'r' });
  expect(sent[0]).toEqual({
    target: { key: 'hms:tokenOrigin:false:10', origin: endpoints.tokenOrigin, isGuarded: false },
    path: tokenPath,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials&client_id=10&client_secret=s%26cret',
  });
  expect(sent[1]).toMatchObject({
    target: { key: 'hms:messagesOrigin:false:10', origin: endpoints.messagesOrigin, isGuarded: false },
    path: '/v2/42/messages:send',
    headers: { authorization: 'Bearer token-1' },
  });
});

test('a token serves for four fifths of its life', async () => {
  const { clock, send, sent } = makeBundle();
  await send();
  clock.advance(48 * 60_000 - 1);
  await send();
  expect(sent.filter(({ path }) => path === tokenPath)).toHaveLength(1);
  clock.advance(1);
  await send();
  expect(sent.filter(({ path }) => path === tokenPath)).toHaveLength(2);
});

test('another secret, or another client, has tokens of its own', async () => {
  const { send, sent } = makeBundle();
  for (const change of [{}, { clientSecret: 'new' }, { clientId: '11' }, {}]) await send({ ...credential, ...change });
  expect(sent.filter(({ path }) => path !== tokenPath).map(({ headers }) => headers.authorization)).toEqual(
    ['1', '2', '3', '1'].map((number) => `Bearer token-${number}`),
  );
});

describe('a token that has ended', () => {
  const ended = answerWith(200, { code: '80200003', msg: 'expired' });

  test('is fetched anew, once', async () => {
    const { send, sent } = makeBundle({
      reply: ({ headers }) => (headers.authorization === 'Bearer token-1' ? ended : accepted),
    });
    expect(await send()).toMatchObject({ kind: 'accepted' });
    expect(sent).toHaveLength(4);
  });

  test('and when the next one has ended too, that is the outcome', async () => {
    const { send, sent } = makeBundle({ reply: () => ended });
    expect(await send()).toEqual({ kind: 'stopped', code: '80200003', detail: 'expired' });
    expect(sent).toHaveLength(4);
  });
});

test('a client that is refused stops, in the words of the token service', async () => {
  const { send, sent } = makeBundle({ tokenReply: answerWith(400, { error: 1101 }) });
  expect(await send()).toEqual({
    kind: 'stopped',
    code: 'HMS_TOKEN_REFUSED',
    detail: 'the client was refused: {"error":1101}',
  });
  expect(sent).toHaveLength(1);
});

test('a simulated client is led to the simulators', async () => {
  const { send, sent } = makeBundle();
  await send({ ...credential, simulated: true });
  expect(sent.map(({ target }) => [target.key, target.connectTo])).toEqual([
    ['hms:tokenOrigin:true:10', simulator.tokenOrigin],
    ['hms:messagesOrigin:true:10', simulator.messagesOrigin],
  ]);
});

test('the answers to successes are read, and texts too, since a tap opens what is an address', () => {
  const { reads, texts, smallBodyBytes, addressOf } = makeBundle().provider;
  expect([reads, texts, smallBodyBytes, addressOf('a'), addressOf('"')]).toEqual([
    'bodies',
    'read',
    4096,
    'a',
    undefined,
  ]);
});

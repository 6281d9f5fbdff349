import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import type { ApnsCredential } from '../../../src/domain/providers/apns.ts';
import { measureApnsMessage, planApnsRequest, planLiveActivityRequest } from '../../../src/providers/apns/plan.ts';
import { makeApnsProviderTokens } from '../../../src/providers/apns/provider-token.ts';
import type { ProviderToken, ShareProviderToken } from '../../../src/providers/apns/provider-token.ts';
import { makeApnsProvider } from '../../../src/providers/apns/provider.ts';
import type { IosMessage } from '../../../src/providers/payload/ios.ts';
import type { Answer } from '../../../src/providers/provider.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, makeScriptedTransport } from './scripted-transport.ts';
import type { SentRequest } from './scripted-transport.ts';

const now = new Date('2026-11-21T12:00:00Z');

describe('the provider', () => {
  const endpoints = { production: 'https://api.push.apple.com', sandbox: 'https://api.sandbox.push.apple.com' };
  const credential: ApnsCredential = {
    provider: 'apns',
    teamId: 'TEAM000001',
    keyId: 'KEY0000001',
    privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }) as string,
    topic: 'test.shop',
    environment: 'production',
    simulated: false,
  };
  const token = 'AB'.repeat(32);
  const device = { deviceId: '0', platform: 'IOS', pushId: token } as const;
  const message = makeMessage('IOS', '0');
  const authorizations = (sent: SentRequest[]) => sent.map(({ headers }) => headers.authorization);

  test('sends a message to Apple with the token of the team, on connections of team and key', async () => {
    const { send, sent } = makeBundle(() => answerWith(200, '', { 'apns-id': 'x' }));
    expect(await send()).toEqual({ kind: 'accepted', providerMessageId: 'x' });
    expect(sent[0]).toMatchObject({
      target: { key: 'apns:production:false:TEAM000001:KEY0000001', origin: endpoints.production, isGuarded: false },
      headers: { authorization: 'bearer token-1' },
    });
    expect(sent[0]!.target).not.toHaveProperty('connectTo');
  });

  test('sends with a sandbox credential to the sandbox', async () => {
    const { provider, send, sent } = makeBundle(() => answerWith(200));
    const sandbox = { ...credential, environment: 'sandbox' as const };
    expect(provider.plan({ message, device, credential: sandbox })).toMatchObject({
      plan: { origin: endpoints.sandbox },
    });
    await send(sandbox);
    expect(sent[0]!.target).toMatchObject({
      key: 'apns:sandbox:false:TEAM000001:KEY0000001',
      origin: endpoints.sandbox,
    });
  });

  test('connects a simulated credential to the simulator, and throws if there is none', async () => {
    const simulated = { ...credential, simulated: true };
    const { send, sent } = makeBundle(() => answerWith(200), 'http://127.0.0.1:1');
    await send(simulated);
    expect(sent[0]!.target).toEqual({
      key: 'apns:production:true:TEAM000001:KEY0000001',
      origin: endpoints.production,
      connectTo: 'http://127.0.0.1:1',
      isGuarded: false,
    });
    await expect(makeBundle(() => answerWith(200)).send(simulated)).rejects.toThrow('without simulators');
  });

  describe('a rejected token', () => {
    test.each(['ExpiredProviderToken', 'InvalidProviderToken'])(
      '%s: is replaced by another one, once (delivery 2)',
      async (reason) => {
        const { send, sent } = makeBundle(({ headers }) =>
          headers.authorization === 'bearer token-1' ? answerWith(403, { reason }) : answerWith(200),
        );
        expect(await send()).toEqual({ kind: 'accepted' });
        expect(authorizations(sent)).toEqual(['bearer token-1', 'bearer token-2']);
      },
    );

    test('makes the second rejection the outcome, and later messages request no third token', async () => {
      const { send, sent } = makeBundle(() => answerWith(403, { reason: 'InvalidProviderToken' }));
      const stopped = { kind: 'stopped', code: 'InvalidProviderToken', detail: 'HTTP 403 InvalidProviderToken' };
      expect(await send()).toEqual(stopped);
      expect(await send()).toEqual(stopped);
      expect(authorizations(sent)).toEqual(['bearer token-1', 'bearer token-2', 'bearer token-2']);
    });

    test.each<[string, Answer]>([
      ['another reason', answerWith(403, { reason: 'UnrelatedKeyIdInToken' })],
      ['another status', answerWith(400, { reason: 'InvalidProviderToken' })],
      ['a body of null', answerWith(403, 'null')],
      ['no answer', { kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: '' }],
    ])('is not detected in %s', async (_what, answer) => {
      const { send, sent } = makeBundle(() => answer);
      await send();
      expect(sent).toHaveLength(1);
    });
  });

  test('skips reading the body of successes because Apple echoes the id, and writes addresses in lower case', () => {
    const { reads, texts, smallBodyBytes, addressOf } = makeBundle(() => answerWith(200)).provider;
    expect([reads, texts, smallBodyBytes]).toEqual(['failures', 'copied', 4096]);
    expect(addressOf('AB'.repeat(32))).toBe('ab'.repeat(32));
    expect(addressOf('xy'.repeat(32))).toBeUndefined();
  });

  describe('the request', () => {
    const plan = (given: { content?: object; pushId?: string; message?: Message } = {}) =>
      planApnsRequest(
        {
          message: given.message ?? ({ ...message, content: { ...message.content, ...given.content } } as IosMessage),
          device: { ...device, pushId: given.pushId ?? token },
          credential,
        },
        { origin: endpoints.production, now },
      );

    test('names the app, the message and the headers that Apple requires (delivery 2)', () => {
      const planned = plan();
      expect('plan' in planned && { ...planned.plan, body: JSON.parse(planned.plan.body.toString()) }).toMatchObject({
        origin: endpoints.production,
        path: `/3/device/${token.toLowerCase()}`,
        headers: {
          'content-type': 'application/json',
          'apns-topic': 'test.shop',
          'apns-push-type': 'alert',
          'apns-priority': '10',
          'apns-expiration': String(now.getTime() / 1000 + 129_600),
          'apns-collapse-id': message.identity.collapseId,
          'apns-id': message.identity.id,
        },
        body: { aps: { alert: { title: 'Title', body: 'Text' } } },
      });
    });

    test.each([
      ['0123456789abcDEF', true],
      ['a'.repeat(200), true],
      ['a'.repeat(15), false],
      ['a'.repeat(201), false],
      [`${'a'.repeat(64)}/`, false],
      [`/${'a'.repeat(64)}`, false],
      ['g'.repeat(64), false],
      ['', false],
    ])('has the token in its path only if it is valid: %s: %s', (pushId, isToken) => {
      const planned = plan({ pushId });
      if (isToken) expect(planned).toHaveProperty('plan.path', `/3/device/${pushId.toLowerCase()}`);
      else expect(planned).toEqual({ outcome: { kind: 'gone', code: 'BadDeviceToken' } });
    });

    test('has at most 4096 bytes (delivery 2), with the override of the caller', () => {
      const measured = (content: object) =>
        measureApnsMessage({ ...message, content: { ...message.content, ...content } } as IosMessage);
      const most = 4096 - measured({ message: '' }).bytes;
      expect(measured({ message: 'x'.repeat(most) })).toEqual({ bytes: 4096, most: 4096 });
      expect(plan({ content: { message: 'x'.repeat(most) } })).toHaveProperty('plan');
      expect(plan({ content: { message: 'x'.repeat(most + 1) } })).toEqual({
        outcome: { kind: 'rejected', code: 'PayloadTooLarge', detail: '4097 bytes; APNs takes 4096' },
      });
      const overrides = { apns: { payload: { more: 'é' } } };
      expect(measured({ overrides }).bytes - measured({}).bytes).toBe(',"more":"é"'.length + 1);
      expect(measured({ overrides: { apns: { payload: { aps: null } } } })).toEqual(measured({}));
    });

    test('is not sent if the override makes it invalid', () => {
      expect(plan({ content: { overrides: { apns: { payload: { aps: null } } } } })).toEqual({
        outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: 'aps must be an object' },
      });
      expect(plan({ content: { overrides: { apns: { headers: { 'apns-topic': '.voip' } } } } })).toHaveProperty(
        'plan.headers.apns-topic',
        'test.shop.voip',
      );
    });

    test('is for iOS only', () => {
      expect(() => plan({ message: makeMessage('ANDROID', '0') })).toThrow('APNs serves iOS, not ANDROID');
    });
  });

  describe('an event of a Live Activity', () => {
    const event = { id: 'E1', token, priority: 5, body: '{"aps":{}}', expiresAt: new Date(1_790_000_000_900) } as const;
    const plan = (more: object = {}) =>
      planLiveActivityRequest({ ...event, ...more }, { credential, origin: endpoints.production });

    test('is sent under a separate topic, with nothing but its body', () => {
      const planned = plan();
      expect('plan' in planned && { ...planned.plan, body: planned.plan.body.toString() }).toEqual({
        origin: endpoints.production,
        path: `/3/device/${token.toLowerCase()}`,
        headers: {
          'content-type': 'application/json',
          'apns-topic': 'test.shop.push-type.liveactivity',
          'apns-push-type': 'liveactivity',
          'apns-priority': '5',
          'apns-expiration': '1790000000',
          'apns-id': expect.any(String),
        },
        body: '{"aps":{}}',
      });
    });

    test('has the same id on every attempt, a UUID of version 8 (RFC 9562 §5.8), unlike that of another event', () => {
      const idOf = (more: object = {}) =>
        (plan(more) as { plan: { headers: Record<string, string> } }).plan.headers['apns-id'];
      expect(idOf()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(idOf({ priority: 10 })).toBe(idOf());
      expect(idOf({ id: 'E2' })).not.toBe(idOf());
    });

    test('is not sent to an invalid Apple token, which counts as gone', () => {
      expect(plan({ token: '../x' })).toEqual({ outcome: { kind: 'gone', code: 'BadDeviceToken' } });
    });
  });

  function makeBundle(reply: (request: SentRequest, number: number) => Answer, simulatorOrigin?: string) {
    const clock = makeManualClock(now);
    const { transport, sent } = makeScriptedTransport(reply);
    let made = 0;
    const provider = makeApnsProvider({
      ...{ clock, transport, endpoints, simulatorOrigin },
      async shareToken({ make }) {
        made += 1;
        return { ...make(), token: `token-${made}` };
      },
    });
    const send = async (given = credential) => {
      const planned = provider.plan({ message, device, credential: given });
      if ('outcome' in planned) return planned.outcome;
      return provider.classify(await provider.send(planned.plan, given), clock.realNow());
    };
    return { clock, provider, send, sent };
  }
});

type Share = Parameters<ShareProviderToken>[0];

describe('provider tokens', () => {
  const minutes = 60_000;
  const makeKey = (): string =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const credential: ApnsCredential = {
    provider: 'apns',
    teamId: 'TEAM000001',
    keyId: 'KEY0000001',
    privateKey: makeKey(),
    topic: 'test.shop',
    environment: 'production',
    simulated: false,
  };

  describe('a token (delivery 2)', () => {
    test('is signed once for concurrent callers, and kept for fifty minutes', async () => {
      const { clock, node, asked } = makeBundle();
      const got = await Promise.all(Array.from({ length: 20 }, () => node.get(credential)));
      expect(new Set(got)).toEqual(new Set(['token-1']));
      clock.advance(50 * minutes - 1);
      expect(await node.get(credential)).toBe('token-1');
      expect(asked).toHaveLength(1);
      clock.advance(1);
      expect(await node.get(credential)).toBe('token-2');
    });

    test('is taken from another node while it is fresh', async () => {
      const { clock, startNode, node, made } = makeBundle();
      await node.get(credential);
      clock.advance(49 * minutes);
      expect(await startNode().get(credential)).toBe('token-1');
      clock.advance(2 * minutes);
      expect(await startNode().get(credential)).toBe('token-2');
      expect(made()).toBe(2);
    });

    test('is not used if it is from the future, because Apple rejects it', async () => {
      const { clock, node } = makeBundle(makeManualClock(new Date(now.getTime() + 60 * minutes)));
      await node.get(credential);
      clock.anchor(now);
      expect(await node.get(credential)).toBe('token-2');
    });

    test('states its time of issue in whole seconds, its team and its key', async () => {
      const clock = makeManualClock(new Date(now.getTime() + 900));
      const { node, asked, stored } = makeBundle(clock);
      await node.get(credential);
      const { token, issuedAt } = asked[0]!.make();
      const [head, claims, signature] = token.split('.').map((part) => Buffer.from(part, 'base64url'));
      expect(JSON.parse(head!.toString())).toEqual({ alg: 'ES256', kid: 'KEY0000001' });
      expect(JSON.parse(claims!.toString())).toEqual({ iss: 'TEAM000001', iat: now.getTime() / 1000 });
      expect(signature).toHaveLength(64);
      expect(issuedAt).toEqual(clock.realNow());
      expect([...stored.keys()][0]).toMatch(/^apns:production:TEAM000001:KEY0000001:[\w-]{16}$/);
    });

    test.each<[string, Partial<ApnsCredential>]>([
      ['another team', { teamId: 'TEAM000002' }],
      ['another key', { keyId: 'KEY0000002' }],
      ['the sandbox', { environment: 'sandbox' }],
      ['a key that replaced one of the same name', { privateKey: makeKey() }],
    ])('is separate for %s', async (_what, change) => {
      const { node, stored } = makeBundle();
      expect(await node.get(credential)).toBe('token-1');
      expect(await node.get({ ...credential, ...change })).toBe('token-2');
      expect(await node.get({ ...credential })).toBe('token-1');
      expect(stored.size).toBe(2);
    });

    test('fails on each request if the key cannot sign, without affecting other keys', async () => {
      const { node, made } = makeBundle();
      const broken = { ...credential, privateKey: 'no key' };
      await expect(node.get(broken)).rejects.toThrow();
      await expect(node.get(broken)).rejects.toThrow();
      expect(await node.get(credential)).toBe(`token-${made()}`);
    });

    test('is evicted after a thousand others, the least recently used one first', async () => {
      let asked = 0;
      const share: ShareProviderToken = async () => {
        asked += 1;
        return { token: `token-${asked}`, issuedAt: now };
      };
      const node = makeApnsProviderTokens({ clock: makeManualClock(now), share });
      const of = (number: number) => node.get({ ...credential, teamId: `TEAM${number}` });
      for (let number = 0; number < 1_000; number += 1) await of(number);
      // The first is used again, so it is the second that makes place.
      await of(0);
      await of(1_000);
      expect(asked).toBe(1_001);
      await of(0);
      expect(asked).toBe(1_001);
      await of(1);
      expect(asked).toBe(1_002);
    });
  });

  describe('a token that Apple rejected', () => {
    test('is replaced once for all its callers', async () => {
      const { node, made } = makeBundle();
      await node.get(credential);
      const next = await Promise.all(Array.from({ length: 20 }, () => node.replace(credential, 'token-1')));
      expect(new Set(next)).toEqual(new Set(['token-2']));
      expect(await node.replace(credential, 'token-1')).toBe('token-2');
      expect(await node.get(credential)).toBe('token-2');
      expect(made()).toBe(2);
    });

    test('is not replaced again within twenty minutes, because Apple counts that against the team', async () => {
      const { clock, node } = makeBundle();
      await node.get(credential);
      expect(await node.replace(credential, 'token-1')).toBe('token-2');
      expect(await node.replace(credential, 'token-2')).toBeUndefined();
      clock.advance(20 * minutes - 1);
      expect(await node.replace(credential, 'token-2')).toBeUndefined();
      clock.advance(1);
      expect(await node.replace(credential, 'token-2')).toBe('token-3');
    });

    test('is replaced by the newer token of another node if there is one', async () => {
      const { startNode, node, made } = makeBundle();
      const other = startNode();
      await node.get(credential);
      await other.get(credential);
      await node.replace(credential, 'token-1');
      expect(await other.replace(credential, 'token-1')).toBe('token-2');
      expect(made()).toBe(2);
    });

    test('is not replaced by one that has expired in the meantime', async () => {
      const { clock, node } = makeBundle();
      await node.get(credential);
      await node.replace(credential, 'token-1');
      clock.advance(51 * minutes);
      expect(await node.replace(credential, 'token-1')).toBe('token-3');
    });

    test('is replaced by a new one in a process that has no token yet', async () => {
      const { startNode, node } = makeBundle();
      await node.get(credential);
      expect(await startNode().replace(credential, 'token-1')).toBe('token-2');
    });
  });

  /** What all nodes have in common, as the database keeps it; each token that is made is told apart by its number. */
  function makeBundle(clock = makeManualClock(now)) {
    const stored = new Map<string, ProviderToken>();
    const asked: Share[] = [];
    let made = 0;
    const share: ShareProviderToken = async (question) => {
      asked.push(question);
      const known = stored.get(question.key);
      if (known && question.isUsable(known)) return known;
      made += 1;
      const token = { ...question.make(), token: `token-${made}` };
      stored.set(question.key, token);
      return token;
    };
    const startNode = () => makeApnsProviderTokens({ clock, share });
    return { clock, stored, asked, made: () => made, startNode, node: startNode() };
  }
});

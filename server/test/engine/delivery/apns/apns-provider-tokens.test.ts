import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../../src/clock.ts';
import type { ApnsCredential } from '../../../../src/domain/providers/apns.ts';
import { makeApnsProviderTokens } from '../../../../src/providers/apns/provider-token.ts';
import type { ProviderToken, ShareProviderToken } from '../../../../src/providers/apns/provider-token.ts';

const now = new Date('2026-11-21T12:00:00Z');
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

type Share = Parameters<ShareProviderToken>[0];

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

describe('a token (delivery 2)', () => {
  test('is signed once, whoever waits for it, and kept for fifty minutes', async () => {
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

  test('from the future is not used, since Apple refuses it', async () => {
    const { clock, node } = makeBundle(makeManualClock(new Date(now.getTime() + 60 * minutes)));
    await node.get(credential);
    clock.anchor(now);
    expect(await node.get(credential)).toBe('token-2');
  });

  test('says when it was issued, and by which team and key, in whole seconds', async () => {
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
  ])('of %s is another', async (_what, change) => {
    const { node, stored } = makeBundle();
    expect(await node.get(credential)).toBe('token-1');
    expect(await node.get({ ...credential, ...change })).toBe('token-2');
    expect(await node.get({ ...credential })).toBe('token-1');
    expect(stored.size).toBe(2);
  });

  test('of a key that cannot sign is an error each time, and does no harm to another', async () => {
    const { node, made } = makeBundle();
    const broken = { ...credential, privateKey: 'no key' };
    await expect(node.get(broken)).rejects.toThrow();
    await expect(node.get(broken)).rejects.toThrow();
    expect(await node.get(credential)).toBe(`token-${made()}`);
  });

  test('is forgotten when a thousand others came after it, the least used one first', async () => {
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

describe('a token that Apple refused', () => {
  test('is replaced once, whoever was refused with it', async () => {
    const { node, made } = makeBundle();
    await node.get(credential);
    const next = await Promise.all(Array.from({ length: 20 }, () => node.replace(credential, 'token-1')));
    expect(new Set(next)).toEqual(new Set(['token-2']));
    expect(await node.replace(credential, 'token-1')).toBe('token-2');
    expect(await node.get(credential)).toBe('token-2');
    expect(made()).toBe(2);
  });

  test('is not replaced again within twenty minutes, which Apple counts against the team', async () => {
    const { clock, node } = makeBundle();
    await node.get(credential);
    expect(await node.replace(credential, 'token-1')).toBe('token-2');
    expect(await node.replace(credential, 'token-2')).toBeUndefined();
    clock.advance(20 * minutes - 1);
    expect(await node.replace(credential, 'token-2')).toBeUndefined();
    clock.advance(1);
    expect(await node.replace(credential, 'token-2')).toBe('token-3');
  });

  test('is replaced by that of another node where there is one', async () => {
    const { startNode, node, made } = makeBundle();
    const other = startNode();
    await node.get(credential);
    await other.get(credential);
    await node.replace(credential, 'token-1');
    expect(await other.replace(credential, 'token-1')).toBe('token-2');
    expect(made()).toBe(2);
  });

  test('is not replaced by one that has become old meanwhile', async () => {
    const { clock, node } = makeBundle();
    await node.get(credential);
    await node.replace(credential, 'token-1');
    clock.advance(51 * minutes);
    expect(await node.replace(credential, 'token-1')).toBe('token-3');
  });

  test('stands in no other’s place: a process that has none yet asks for one that is not it', async () => {
    const { startNode, node } = makeBundle();
    await node.get(credential);
    expect(await startNode().replace(credential, 'token-1')).toBe('token-2');
  });
});

import { createECDH } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { messageIdentity } from '../../../src/domain/content/message.ts';
import type { ProviderCredential } from '../../../src/domain/delivery/providers.ts';
import { checkCredential } from '../../../src/providers/check-credential.ts';
import type { DeliveryRequest, Outcome } from '../../../src/providers/provider.ts';
import { isDeviceToken } from '../../../src/providers/apns/plan.ts';

/** The credential is asked for what a provider says with `outcome`. */
async function check(credential: object, outcome: Outcome = { kind: 'accepted' }) {
  const asked: DeliveryRequest[] = [];
  const delivery = {
    async probe(request: DeliveryRequest) {
      asked.push(request);
      return outcome;
    },
  };
  const result = await checkCredential({ delivery }, credential as ProviderCredential);
  return { result, asked };
}

describe('what a provider says of a made-up device decides', () => {
  test.each<[Outcome, object]>([
    [{ kind: 'accepted' }, { verdict: 'ACCEPTED', words: 'The provider took the call.' }],
    [
      { kind: 'gone', code: 'BadDeviceToken' },
      { verdict: 'ACCEPTED', words: 'BadDeviceToken, which is about the made-up device, not about the credential.' },
    ],
    [
      { kind: 'rejected', code: 'INVALID_ARGUMENT', detail: 'bad token' },
      { verdict: 'ACCEPTED', words: 'INVALID_ARGUMENT: bad token, which is about the made-up message.' },
    ],
    [
      { kind: 'rejected', code: 'BadCollapseId', detail: 'HTTP 400 BadCollapseId' },
      { verdict: 'ACCEPTED', words: 'HTTP 400 BadCollapseId, which is about the made-up message.' },
    ],
    [
      { kind: 'stopped', code: 'InvalidProviderToken', detail: 'HTTP 403 InvalidProviderToken' },
      { verdict: 'REFUSED', words: 'HTTP 403 InvalidProviderToken' },
    ],
    [
      { kind: 'stopped', code: 'A', detail: 'b' },
      { verdict: 'REFUSED', words: 'A: b' },
    ],
    [
      { kind: 'wait', code: '503', scope: 'device' },
      { verdict: 'UNKNOWN', words: '503' },
    ],
    [
      { kind: 'unreached', code: 'NOT_CONNECTED' },
      { verdict: 'UNKNOWN', words: 'NOT_CONNECTED' },
    ],
    [
      { kind: 'unknown', code: 'TIMEOUT' },
      { verdict: 'UNKNOWN', words: 'TIMEOUT' },
    ],
    ...(['reject', 'wait', 'suspect', 'drop'] as const).map((ifDevice): [Outcome, object] => [
      { kind: 'ambiguous', code: 'A', detail: 'HTTP 400 A', ifDevice, ifAccount: 'hold' },
      {
        verdict: ifDevice === 'reject' ? 'REFUSED' : ifDevice === 'wait' ? 'UNKNOWN' : 'ACCEPTED',
        words: /^(reject|wait)$/.test(ifDevice)
          ? 'HTTP 400 A'
          : 'A, which is about the made-up device, not about the credential.',
      },
    ]),
    ...['BadCertificate', 'BadEnvironmentKeyIdInToken'].map((code): [Outcome, object] => [
      { kind: 'rejected', code, detail: `HTTP 400 ${code}` },
      { verdict: 'REFUSED', words: `HTTP 400 ${code}` },
    ]),
    [
      { kind: 'rejected', code: 'NotBadTopic', detail: 'NotBadTopic' },
      { verdict: 'ACCEPTED', words: 'NotBadTopic, which is about the made-up message.' },
    ],
  ])('%j', async (outcome, result) => {
    expect((await check({ provider: 'apns' }, outcome)).result).toEqual(result);
  });
});

describe('what is asked', () => {
  test.each([
    ['fcm', 'ANDROID'],
    ['hms', 'ANDROID'],
    ['apns', 'IOS'],
  ])('%s is asked once, with the credential alone, for a device of %s', async (provider, platform) => {
    const { asked } = await check({ provider });
    expect(asked).toHaveLength(1);
    const [{ message, device, credentials }] = asked as [DeliveryRequest];
    expect(credentials).toEqual({ [provider]: { provider } });
    expect(device).toMatchObject({ platform, provider });
    expect(message).toMatchObject({ platform, ttlSeconds: 0, isSilent: false });
    expect(message.content).toMatchObject({ title: 'Credential check', message: 'Not delivered to anybody' });
    expect(message).not.toHaveProperty('report');
    // Apple's form, which the others take too, as long as Apple's are; and no two checks name two devices.
    expect(device.pushId).toMatch(/^dead0400[0-9a-f]{56}$/);
    expect(isDeviceToken(device.pushId)).toBe(true);
    expect((await check({ provider })).asked[0]!.device).toEqual(device);
  });
});

test('the message is the plainest that the phone’s app could read, in a campaign and a run of nobody’s', async () => {
  const ids = {
    workspaceId: 'probe',
    campaignId: '0'.repeat(24),
    runId: '0'.repeat(24),
    ttlSeconds: 0,
    isSilent: false,
  };
  const content = {
    ...{ title: 'Credential check', message: 'Not delivered to anybody' },
    ...{ richContent: [], additionalActions: [] },
  };
  const { identity, ...android } = (await check({ provider: 'fcm' })).asked[0]!.message;
  expect(identity).toEqual(messageIdentity('0'.repeat(24), 'probe'));
  expect(android).toEqual({
    ...ids,
    platform: 'ANDROID',
    priority: 'NORMAL',
    content,
    payload: { mode: 'data', pushFrom: 'carillon', dataPrefix: 'svc' },
  });
  const { identity: _identity, ...ios } = (await check({ provider: 'apns' })).asked[0]!.message;
  expect(ios).toEqual({
    ...ids,
    platform: 'IOS',
    priority: 5,
    content: { ...content, enableBadge: false },
    dataPrefix: 'svc',
  });
});

describe('a VAPID key', () => {
  const ecdh = createECDH('prime256v1');
  const pair = {
    provider: 'webpush',
    subject: 'mailto:push@example.com',
    publicKey: ecdh.generateKeys('base64url'),
    privateKey: Buffer.from(ecdh.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
  };

  test('whose halves match is accepted, and nobody is asked', async () => {
    const { result, asked } = await check(pair);
    expect(result).toEqual({ verdict: 'ACCEPTED', words: expect.stringMatching(/^The two keys are a pair\./) });
    expect(asked).toEqual([]);
  });

  test('whose halves do not is refused, in words that say why', async () => {
    const { result } = await check({ ...pair, publicKey: createECDH('prime256v1').generateKeys('base64url') });
    expect(result.verdict).toBe('REFUSED');
    expect(result.words).toMatch(/\w+ \w+/);
  });

  test('without one of its halves is an error of the caller’s', async () => {
    const { privateKey: _privateKey, ...half } = pair;
    await expect(check(half)).rejects.toThrow(TypeError);
  });
});

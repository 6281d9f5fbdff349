import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canProbe,
  evidenceKeyOf,
  isHealthy,
  isOfKey,
  judgeAnswer,
  maxEvidenceDevices,
  rememberAnswers,
  weighEvidence,
} from '../../../src/domain/delivery/evidence.ts';
import type { AccountEffect, Seen } from '../../../src/domain/delivery/evidence.ts';
import type { ProviderCredentials } from '../../../src/domain/delivery/providers.ts';
import { propertyRuns } from '../../property-runs.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const day = 24 * 3_600_000;
let number = 0;
/** So many devices that were never seen before, with one answer. */
const devices = (count: number, code: string | null, more: Partial<Seen> = {}): Seen[] =>
  Array.from({ length: count }, () => ({ deviceId: `d${(number += 1)}`, code, at: now, ...more }));

type Given = {
  remembered?: Seen[];
  answers: Seen[];
  effect?: AccountEffect;
  isDrop?: boolean;
  canHold?: boolean;
};

function judge({ remembered = [], answers, effect = 'hold', isDrop = false, canHold = true }: Given) {
  const weighed = weighEvidence(remembered, { answers, code: 'bad', now });
  return judgeAnswer({ weighed, effect, isDrop, canHold });
}

describe('the cause of an ambiguous answer', () => {
  test.each<[string, Given, ReturnType<typeof judge>]>([
    ['18 of 20 devices got it: the credential', { answers: [...devices(18, 'bad'), ...devices(2, null)] }, 'account'],
    ['17 of 20: the devices', { answers: [...devices(17, 'bad'), ...devices(3, null)] }, 'device'],
    ['19 devices, all of them: too few to know', { answers: devices(19, 'bad') }, 'undecided'],
    ['20 devices, all of them: the credential', { answers: devices(20, 'bad') }, 'account'],
    ['3 devices that were all accepted before: the credential', { answers: seen(3) }, 'account'],
    ['2 devices that were accepted before: too few to know', { answers: seen(2) }, 'undecided'],
    ['3 of 4 that were accepted before: the devices', { answers: [...seen(3), ...devices(1, null)] }, 'device'],
    [
      'one device beside one that was accepted: the device',
      { answers: [...devices(1, 'bad'), ...devices(1, null)] },
      'device',
    ],
    ['one device alone: too few to know', { answers: devices(1, 'bad') }, 'undecided'],
    [
      'another code of other devices says that the credential works',
      { answers: [...devices(1, 'bad'), ...devices(19, 'other')] },
      'device',
    ],
    [
      'it is remembered for a day',
      { remembered: devices(19, 'bad', { at: now - day + 1 }), answers: devices(1, 'bad') },
      'account',
    ],
    ['and no longer', { remembered: devices(19, 'bad', { at: now - day }), answers: devices(1, 'bad') }, 'undecided'],
    ['a host that its devices chose holds nothing', { answers: devices(100, 'bad'), canHold: false }, 'device'],
    [
      'a code that says nothing of credentials holds nothing',
      { answers: devices(100, 'bad'), effect: 'none' },
      'device',
    ],
    [
      'one answer holds at once what is known to refuse credentials',
      { answers: devices(1, 'bad'), effect: 'hold at once' },
      'account',
    ],
    [
      'but for a credential that was accepted a minute ago',
      { remembered: devices(1, null, { at: now - 59_000 }), answers: devices(1, 'bad'), effect: 'hold at once' },
      'device',
    ],
    [
      'and no longer ago than that',
      { remembered: devices(1, null, { at: now - 60_000 }), answers: devices(1, 'bad'), effect: 'hold at once' },
      'account',
    ],
    [
      '95 of 100 dead addresses: the devices',
      { answers: [...devices(95, 'bad'), ...devices(5, null)], isDrop: true },
      'device',
    ],
    ['99 of 100: the credential', { answers: [...devices(99, 'bad'), ...devices(1, null)], isDrop: true }, 'account'],
    [
      '24 of 25 with one witness: too few to know',
      { answers: [...devices(24, 'bad'), ...devices(1, null)], isDrop: true },
      'undecided',
    ],
  ])('is, if %s', (_what, given, verdict) => {
    expect(judge(given)).toBe(verdict);
  });

  test('counts a device once, with its last answer', () => {
    const before = devices(30, 'bad');
    const answers = before.map((seen) => ({ ...seen, code: null }));
    const weighed = weighEvidence(before, { answers: [...answers, ...devices(1, 'bad')], code: 'bad', now });
    expect(weighed).toMatchObject({ devices: 31, withCode: 1, accepted: 30 });
  });

  test('is never the key with fewer than twenty devices, three of them not accepted before', () => {
    fc.assert(
      fc.property(fc.nat(19), fc.nat(2), fc.nat(19), (bad, witnesses, good) => {
        if (bad + witnesses + good >= 20) return;
        const answers = [...devices(bad, 'bad'), ...seen(witnesses), ...devices(good, null)];
        if (answers.length > 0) expect(judge({ answers })).not.toBe('account');
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

function seen(count: number): Seen[] {
  return devices(count, 'bad', { wasAccepted: true });
}

describe('the memory of a key', () => {
  test('keeps the newest devices of few answers, each once', () => {
    const before = devices(20, null);
    const again = { ...before[5]!, code: 'bad', at: now + 1 };
    const after = rememberAnswers(before, { answers: [again, ...devices(2, 'bad')], now });
    expect(after).toHaveLength(maxEvidenceDevices);
    expect(after.filter(({ deviceId }) => deviceId === again.deviceId)).toEqual([again]);
    expect(after.slice(-3).map(({ code }) => code)).toEqual(['bad', 'bad', 'bad']);
    // The oldest left.
    expect(after).not.toContain(before[0]);
  });

  test('keeps the shares of many answers, in any order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 21, max: 600 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        (count, share, isFirst) => {
          const bad = Math.round(count * share);
          const [one, other] = [devices(bad, 'bad'), devices(count - bad, null)];
          const after = rememberAnswers([], { answers: isFirst ? [...one, ...other] : [...other, ...one], now });
          expect(after).toHaveLength(maxEvidenceDevices);
          expect(new Set(after.map(({ deviceId }) => deviceId)).size).toBe(maxEvidenceDevices);
          const kept = after.filter(({ code }) => code === 'bad').length;
          expect(Math.abs(kept / maxEvidenceDevices - bad / count)).toBeLessThanOrEqual(1 / maxEvidenceDevices);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });
});

test('counts a suspicion while at least half of the devices were accepted', () => {
  expect(
    [
      [2, 1],
      [3, 1],
      [1, 0],
      [20, 10],
    ].map(([count, good]) => isHealthy({ devices: count!, accepted: good! })),
  ).toEqual([...[true, false, false, true]]);
});

test('does not probe a key with a device that failed less than a minute ago', () => {
  const remembered: Seen[] = [
    { deviceId: 'failed', code: 'bad', at: now - 59_999 },
    { deviceId: 'before', code: 'bad', at: now - 60_000 },
    { deviceId: 'good', code: null, at: now },
  ];
  const hold = { key: 'k', code: 'bad', detail: '', until: null, remembered };
  expect(['failed', 'before', 'good', 'new'].map((deviceId) => canProbe(hold, { deviceId, now }))).toEqual([
    ...[false, true, true, true],
  ]);
});

describe('the key of a device', () => {
  const credentials = {
    fcm: { projectId: 'p' },
    apns: { teamId: 't', topic: 'com.example.shop', environment: 'production' },
    webpush: { publicKey: 'B' },
    hms: { owner: { kind: 'app', id: '1' } },
  } as unknown as ProviderCredentials;
  const name = { provider: 'fcm', appId: 'default', version: 'v1' } as const;
  const keyOf = (device: Parameters<typeof evidenceKeyOf>[0]['device'], more: object = {}) =>
    evidenceKeyOf({ workspaceId: 'W', name, credentials, device, origin: undefined, ...more });

  test('distinguishes platforms, bundles, environments, versions, workspaces and push services', () => {
    const sister = { ...credentials, apns: { ...credentials.apns!, topic: 'com.example.news' } };
    const sandbox = { ...credentials, apns: { ...credentials.apns!, environment: 'sandbox' } };
    const keys = [
      keyOf({ platform: 'ANDROID' }),
      keyOf({ platform: 'IOS', provider: 'fcm' }),
      keyOf({ platform: 'IOS' }),
      keyOf({ platform: 'IOS' }, { credentials: sister }),
      keyOf({ platform: 'IOS' }, { credentials: sandbox }),
      keyOf({ platform: 'IOS' }, { name: { ...name, version: 'v2' } }),
      keyOf({ platform: 'IOS' }, { workspaceId: 'V' }),
      keyOf({ platform: 'WEB' }, { origin: 'https://fcm.googleapis.com' }),
      keyOf({ platform: 'WEB' }, { origin: 'https://web.push.apple.com' }),
      keyOf({ platform: 'ANDROID', provider: 'hms' }),
    ].map((key) => key!.text);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('belongs to its credential, for Apple to the bundle: a key may be for one environment only', () => {
    const [android, iphone] = [keyOf({ platform: 'ANDROID' })!, keyOf({ platform: 'IOS', provider: 'fcm' })!];
    expect(android.credential).toBe(iphone.credential);
    expect(isOfKey(android.text, android.credential)).toBe(true);
    expect(isOfKey(undefined, android.credential)).toBe(false);
    expect(isOfKey(`${android.credential}0 ANDROID`, android.credential)).toBe(false);
    const apns = keyOf({ platform: 'IOS' })!;
    expect(apns.credential).toBe(apns.text);
  });

  test('can be held for the push service of a browser, but not for a host that a device chose', () => {
    expect(keyOf({ platform: 'WEB' }, { origin: 'https://updates.push.services.mozilla.com' })!.canHold).toBe(true);
    expect(keyOf({ platform: 'WEB' }, { origin: 'https://ntfy.example' })!.canHold).toBe(false);
    expect(keyOf({ platform: 'WEB' }, { origin: 'https://fcm.googleapis.com.evil.example' })!.canHold).toBe(false);
  });

  test('does not exist without a credential', () => {
    expect(keyOf({ platform: 'IOS' }, { credentials: {} })).toBeUndefined();
  });
});

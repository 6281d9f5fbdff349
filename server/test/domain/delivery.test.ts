import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { App } from '../../src/domain/apps.ts';
import { makeCredentialsOfApps } from '../../src/domain/credentials/credentials.ts';
import type { CredentialOfApp } from '../../src/domain/credentials/credentials.ts';
import { isDatabaseFault, isDeadlock, isOutage, refusesWrites } from '../../src/domain/database-faults.ts';
import {
  canProbe,
  evidenceKeyOf,
  findRefusal,
  isHealthy,
  isOfKey,
  judgeAnswer,
  makeRefusal,
  maxEvidenceDevices,
  reachesOthers,
  rememberAnswers,
  weighEvidence,
} from '../../src/domain/delivery/evidence.ts';
import type { AccountEffect, Refusal, Seen } from '../../src/domain/delivery/evidence.ts';
import { describeWaitingCause } from '../../src/domain/delivery/failures.ts';
import { providerOf, providerOfCode } from '../../src/domain/delivery/providers.ts';
import type { ProviderCredential, ProviderCredentials } from '../../src/domain/delivery/providers.ts';
import { retryDelaySeconds } from '../../src/domain/delivery/retry-delay.ts';
import { judgeAnswers } from '../../src/domain/operations/provider-issues.ts';
import type { ProviderAnswers } from '../../src/domain/operations/provider-issues.ts';
import { propertyRuns } from '../property-runs.ts';

type Given = {
  remembered?: Seen[];
  answers: Seen[];
  effect?: AccountEffect;
  isDrop?: boolean;
  canHold?: boolean;
};

describe('evidence', () => {
  const now = Date.parse('2026-11-26T12:00:00Z');
  const day = 24 * 3_600_000;
  let number = 0;
  /** So many devices that were never seen before, with one answer. */
  const devices = (count: number, code: string | null, more: Partial<Seen> = {}): Seen[] =>
    Array.from({ length: count }, () => ({ deviceId: `d${(number += 1)}`, code, at: now, ...more }));

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

  function judge({ remembered = [], answers, effect = 'hold', isDrop = false, canHold = true }: Given) {
    const weighed = weighEvidence(remembered, { answers, code: 'bad', now });
    return judgeAnswer({ weighed, effect, isDrop, canHold });
  }

  function seen(count: number): Seen[] {
    return devices(count, 'bad', { wasAccepted: true });
  }
});

describe('waiting and refusals', () => {
  describe('the reason why messages wait', () => {
    test.each([
      ['QUIET_HOURS', 'these people are in quiet hours'],
      ['USER_TIME_ZONE', 'the send time has not arrived in the time zone of these people'],
      ['BEST_TIME', 'the hour at which these people usually open messages has not arrived'],
      ['CAMPAIGN_AUDIENCE_LIMIT', 'messages in transit may use up the limit of the campaign'],
      ['FREQUENCY_CAP', 'these people have had as many messages as the frequency cap allows for now'],
      ['MINIMUM_DELAY', 'these people had another message shortly before'],
      ['PROVIDER_WAIT', 'sending through APNs is paused for a while'],
      ['CREDENTIALS_UNREAD', 'the credential could not be read from the database'],
    ])('is intended or internal for %s: %s', (code, words) => {
      expect(describeWaitingCause({ platform: 'IOS', code })).toEqual({ isOfProvider: false, words });
    });

    test.each([
      ['NOT_CONNECTED', 'the push service could not be reached'],
      ['HOST_NOT_FOUND', 'the host name of the push service does not exist'],
      ['PROXY_UNREACHABLE', 'the outgoing proxy could not be reached'],
      ['PROXY_REFUSED', 'the outgoing proxy blocks connections to the push service'],
      ['PROXY_AUTH', 'the outgoing proxy rejects its credentials'],
      ['NOT_SENT', 'the connection to the push service broke before the message was sent'],
      ['TIMEOUT', 'the push service did not respond'],
      ['RESET', 'the connection to the push service broke before it responded'],
      ['503', 'the push service responded with 503'],
      ['FCM_503', 'FCM responded with 503'],
      ['X_FCM_503', 'the push service responded with X_FCM_503'],
    ])('is the provider or the connection to it for %s: %s', (code, words) => {
      expect(describeWaitingCause({ platform: 'WEB', code })).toEqual({ isOfProvider: true, words });
    });
  });

  test('attributes a code that starts like Firebase’s to it only if it also serves the platform', () => {
    expect(providerOfCode({ platform: 'IOS', code: 'FCM_500' })).toBe('fcm');
    expect(providerOfCode({ platform: 'IOS', code: 'HMS_500' })).toBe('apns');
    expect(providerOfCode({ platform: 'WEB', code: 'X_FCM_500' })).toBe('webpush');
  });

  test('reaches a device by the provider it names, else by the usual one of its platform', () => {
    expect((['ANDROID', 'IOS', 'WEB'] as const).map((platform) => providerOf({ platform }))).toEqual([
      ...['fcm', 'apns', 'webpush'],
    ]);
    expect(providerOf({ platform: 'ANDROID', provider: null })).toBe('fcm');
    expect(providerOf({ platform: 'ANDROID', provider: 'hms' })).toBe('hms');
  });

  describe('a rejected credential', () => {
    const credential = { provider: 'fcm', appId: 'default', version: '3' } as const;

    test('is reported in the words of the provider, with its app, for all platforms it serves', () => {
      const refused = {
        credential,
        platform: 'IOS',
        code: 'PERMISSION_DENIED',
        detail: 'no',
        evidenceKey: undefined,
      } as const;
      expect(makeRefusal(refused)).toEqual({
        ...{ ...credential, platform: null, evidenceKey: null, words: 'PERMISSION_DENIED: no' },
      });
      expect(makeRefusal({ ...refused, credential: { ...credential, appId: 'shop' } }).words).toBe(
        'PERMISSION_DENIED: no (app shop)',
      );
    });

    test('is reported for one platform if Firebase lacks that platform’s own key', () => {
      const code = 'THIRD_PARTY_AUTH_ERROR';
      expect(makeRefusal({ credential, platform: 'IOS', code, detail: 'no', evidenceKey: undefined }).platform).toBe(
        'IOS',
      );
    });

    test.each<[Partial<Refusal>, boolean]>([
      [{}, true],
      [{ platform: 'ANDROID' }, true],
      [{ platform: 'IOS' }, false],
      [{ provider: 'hms' }, false],
      [{ appId: 'shop' }, false],
      [{ version: '2' }, false],
      [{ evidenceKey: 'its key' }, true],
      [{ evidenceKey: 'that of a sister app' }, false],
    ])('blocks its own devices until it is replaced, with %j: %s', (change, stands) => {
      const refusals: Refusal[] = [{ ...credential, platform: null, evidenceKey: null, ...change }];
      expect(findRefusal(refusals, { credential, platform: 'ANDROID', evidenceKey: 'its key' })).toBe(
        stands ? refusals[0] : undefined,
      );
    });
  });

  describe('a run with rejected credentials', () => {
    const secrets: Record<string, ProviderCredential> = {
      fcm: {
        ...{ provider: 'fcm', projectId: 'p', clientEmail: 'a@b.example', privateKeyId: 'k', privateKey: 'p' },
        simulated: false,
      },
      hms: { provider: 'hms', clientId: '1', clientSecret: 's', owner: { kind: 'app', id: '2' }, simulated: false },
      webpush: {
        provider: 'webpush',
        publicKey: 'p',
        privateKey: 'q',
        subject: 'mailto:a@b.example',
        simulated: false,
      },
    };
    const stored = (provider: string, appId: string): CredentialOfApp => ({
      ...{ appId, version: '1', credential: secrets[provider]! },
    });
    const app = (platform: App['platform'], appId: string): App => ({
      ...{
        platform,
        appId,
        name: appId,
        identifier: `com.example.${appId}`,
        environment: null,
        restrictsPackage: false,
      },
    });
    const refusal = (provider: Refusal['provider'], appId: string, platform: Refusal['platform'] = null): Refusal => ({
      ...{ provider, appId, version: '1', platform, evidenceKey: null },
    });
    const apps = [app('ANDROID', 'shop'), app('WEB', 'site')];
    const twoApps = makeCredentialsOfApps(apps, [stored('fcm', 'default'), stored('fcm', 'shop')]);
    const run = { workspaceId: 'w', platforms: ['ANDROID'], appIds: undefined } as const;

    test.each([
      [[], true],
      [[refusal('fcm', 'default')], true],
      [[refusal('fcm', 'default'), refusal('fcm', 'shop')], false],
      [[refusal('fcm', 'default', 'IOS'), refusal('fcm', 'shop', 'IOS')], true],
    ])('reaches devices with %j: %s', (refusals, reaches) => {
      expect(reachesOthers({ ...run, refusals }, twoApps)).toBe(reaches);
    });

    test('depends only on the apps that it names', () => {
      const refusals = [refusal('fcm', 'shop')];
      expect(reachesOthers({ ...run, appIds: ['shop'], refusals }, twoApps)).toBe(false);
      expect(reachesOthers({ ...run, appIds: ['default'], refusals }, twoApps)).toBe(true);
      // An app of another platform.
      expect(reachesOthers({ ...run, appIds: ['site'], refusals: [] }, twoApps)).toBe(false);
    });

    test('reaches devices if another provider of the platform or another platform works', () => {
      const both = makeCredentialsOfApps([], [stored('fcm', 'default'), stored('hms', 'default')]);
      expect(reachesOthers({ ...run, refusals: [refusal('fcm', 'default')] }, both)).toBe(true);
      const web = makeCredentialsOfApps([], [stored('fcm', 'default'), stored('webpush', 'default')]);
      const refusals = [refusal('fcm', 'default')];
      expect(reachesOthers({ ...run, refusals }, web)).toBe(false);
      expect(reachesOthers({ ...run, platforms: ['ANDROID', 'WEB'], refusals }, web)).toBe(true);
      expect(reachesOthers({ ...run, refusals: [] }, makeCredentialsOfApps([], []))).toBe(false);
    });
  });
});

describe('the provider of an error code', () => {
  test.each([
    ['ANDROID', '80300007', 'hms'],
    ['ANDROID', 'HMS_503', 'hms'],
    ['ANDROID', 'HMS_TOKEN_REFUSED', 'hms'],
    ['ANDROID', 'UNREGISTERED', 'fcm'],
    ['ANDROID', '503', 'fcm'],
    ['IOS', 'THIRD_PARTY_AUTH_ERROR', 'fcm'],
    ['IOS', 'BadDeviceToken', 'apns'],
    ['IOS', '80300007', 'apns'],
    ['WEB', 'QUOTA_EXCEEDED', 'fcm'],
    ['WEB', '410', 'webpush'],
  ] as const)('attributes on %s the code %s to %s', (platform, code, provider) => {
    expect(providerOfCode({ platform, code })).toBe(provider);
  });

  test('names the provider in the reason why a message waits', () => {
    expect(describeWaitingCause({ platform: 'ANDROID', code: 'HMS_503' }).words).toBe(
      'Huawei Push Kit responded with 503',
    );
    expect(describeWaitingCause({ platform: 'IOS', code: 'UNAVAILABLE' }).words).toBe('FCM responded with UNAVAILABLE');
  });
});

describe('issues of a provider', () => {
  const none: ProviderAnswers = { platform: 'ANDROID', name: 'FCM (Android)', accepted: 0, waiting: [], failures: [] };
  const busy = (devices: number, code = '503') => ({ code, devices });
  const rejected = (devices: number, outcome = 'REJECTED') => ({
    ...{ outcome, code: 'INVALID_ARGUMENT', devices, advice: 'Look at it.' },
  });

  test.each<[string, Partial<ProviderAnswers>, string[]]>([
    ['nothing sent', {}, []],
    [
      'one message that waits and none accepted',
      { waiting: [busy(1)] },
      ['trouble: FCM (Android) is accepting no messages: 1 message is waiting for a retry, FCM responded with 503.'],
    ],
    [
      'all of them, for two reasons',
      { waiting: [busy(3, 'TIMEOUT'), busy(1200)] },
      [
        'trouble: FCM (Android) is accepting no messages: 1,203 messages are waiting for a retry, FCM responded with 503.',
      ],
    ],
    [
      'a part of them',
      { accepted: 100, waiting: [busy(40)] },
      [
        'attention: FCM (Android) is accepting only some of the messages: 40 messages are waiting for a retry, FCM responded with 503.',
      ],
    ],
    ['a few of many', { accepted: 10_000, waiting: [busy(40)] }, []],
    ['a night', { waiting: [busy(900, 'QUIET_HOURS')] }, []],
    ['a provider that is left alone', { waiting: [busy(900, 'PROVIDER_WAIT')] }, []],
    [
      'nothing but refusals',
      { failures: [rejected(3)] },
      ['trouble: FCM (Android) accepted none of the last 3 messages. Most of them failed with INVALID_ARGUMENT.'],
    ],
    ['two refusals', { failures: [rejected(2)] }, []],
    ['refusals beside accepted messages', { accepted: 1, failures: [rejected(19)] }, []],
    ['devices that are gone', { failures: [rejected(500, 'GONE')] }, []],
  ])('judges %s', (_name, answers, expected) => {
    const findings = judgeAnswers({ ...none, ...answers });
    expect(findings.map(({ level, what }) => `${level}: ${what}`)).toEqual(expected);
  });
});

type Known = { isOutage?: true; isDatabaseFault?: true; isDeadlock?: true; refusesWrites?: true };

describe('faults of the database', () => {
  test.each<[string, unknown, Known]>([
    ['a connection that is refused', { code: 'ECONNREFUSED' }, { isOutage: true, isDatabaseFault: true }],
    ['a server that ends', { code: '57P01' }, { isOutage: true, isDatabaseFault: true }],
    [
      'a commit of which nothing is known',
      { code: 'COMMIT_OUTCOME_UNKNOWN' },
      { isOutage: true, isDatabaseFault: true },
    ],
    ['a full disk', { code: '53100' }, { isDatabaseFault: true, refusesWrites: true }],
    ['too little memory', { code: '53200' }, { isDatabaseFault: true, refusesWrites: true }],
    ['a copy that takes no writes', { code: '25006' }, { isDatabaseFault: true, refusesWrites: true }],
    ['a circle of locks', { code: '40P01' }, { isDatabaseFault: true, isDeadlock: true }],
    ['a lock that is held', { code: '55P03' }, { isDatabaseFault: true }],
    ['a statement that was ended', { code: '57014' }, { isDatabaseFault: true }],
    ['a row that is there already', { code: '23505' }, {}],
    ['a code of another kind that begins so', { code: '53' }, {}],
    ['a longer one', { code: '531001' }, {}],
    ['a number', { code: 53_100 }, {}],
    ['an error without a code', new Error('x'), {}],
    ['nothing', undefined, {}],
  ])('classifies %s', (_what, error, known) => {
    expect({
      ...(isOutage(error) && { isOutage: true }),
      ...(isDatabaseFault(error) && { isDatabaseFault: true }),
      ...(isDeadlock(error) && { isDeadlock: true }),
      ...(refusesWrites(error) && { refusesWrites: true }),
    }).toEqual(known);
  });
});

describe('the delay before the next attempt', () => {
  test('is never less than the provider requested', () => {
    for (const random of [0, 0.5, 0.999]) {
      expect(
        retryDelaySeconds({ attempts: 1, retryAfterSeconds: 77, isRateLimited: true, random }),
      ).toBeGreaterThanOrEqual(77);
    }
  });

  test('grows with the attempts, is spread over its whole range, and is bounded', () => {
    const at = (attempts: number, random: number) => retryDelaySeconds({ attempts, isRateLimited: false, random });
    expect(at(1, 1)).toBeLessThan(at(4, 1));
    expect(at(8, 0)).toBeLessThan(at(8, 1) / 10);
    expect(at(50, 1)).toBeLessThanOrEqual(601);
  });

  test('is at least a minute after a 429 without a time (delivery 1)', () => {
    expect(retryDelaySeconds({ attempts: 1, isRateLimited: true, random: 0 })).toBeGreaterThanOrEqual(60);
  });
});

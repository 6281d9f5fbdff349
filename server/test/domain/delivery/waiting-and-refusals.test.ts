import { describe, expect, test } from 'vitest';
import type { App } from '../../../src/domain/apps.ts';
import { makeCredentialsOfApps } from '../../../src/domain/credentials/credentials.ts';
import type { CredentialOfApp } from '../../../src/domain/credentials/credentials.ts';
import type { ProviderCredential } from '../../../src/domain/delivery/providers.ts';
import { providerOf, providerOfCode } from '../../../src/domain/delivery/providers.ts';
import { findRefusal, makeRefusal, reachesOthers } from '../../../src/domain/delivery/evidence.ts';
import type { Refusal } from '../../../src/domain/delivery/evidence.ts';
import { describeWaitingCause } from '../../../src/domain/delivery/failures.ts';

describe('the reason why messages wait', () => {
  test.each([
    ['QUIET_HOURS', 'it is night for these people'],
    ['USER_TIME_ZONE', 'the local time of these people has not come'],
    ['BEST_TIME', 'the hour at which these people open messages has not come'],
    ['CAMPAIGN_AUDIENCE_LIMIT', 'the campaign’s limit may be used up by messages that are on their way'],
    ['FREQUENCY_CAP', 'these people have had as many messages as the frequency cap allows for now'],
    ['MINIMUM_DELAY', 'these people had another message shortly before'],
    ['PROVIDER_WAIT', 'APNs is left alone for a while'],
    ['CREDENTIALS_UNREAD', 'the credential could not be read from the database'],
  ])('is intended or internal for %s: %s', (code, words) => {
    expect(describeWaitingCause({ platform: 'IOS', code })).toEqual({ isOfProvider: false, words });
  });

  test.each([
    ['NOT_CONNECTED', 'the push service could not be reached'],
    ['HOST_NOT_FOUND', 'the host name of the push service does not exist'],
    ['PROXY_UNREACHABLE', 'the outgoing proxy could not be reached'],
    ['PROXY_REFUSED', 'the outgoing proxy does not let messages through to the push service'],
    ['PROXY_AUTH', 'the outgoing proxy does not take its credentials'],
    ['NOT_SENT', 'the connection to the push service broke before the message was out'],
    ['TIMEOUT', 'the push service did not answer'],
    ['RESET', 'the connection to the push service broke before an answer came'],
    ['503', 'the push service answered 503'],
    ['FCM_503', 'FCM answered 503'],
    ['X_FCM_503', 'the push service answered X_FCM_503'],
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
    webpush: { provider: 'webpush', publicKey: 'p', privateKey: 'q', subject: 'mailto:a@b.example', simulated: false },
  };
  const stored = (provider: string, appId: string): CredentialOfApp => ({
    ...{ appId, version: '1', credential: secrets[provider]! },
  });
  const app = (platform: App['platform'], appId: string): App => ({
    ...{ platform, appId, name: appId, identifier: `com.example.${appId}`, environment: null, restrictsPackage: false },
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

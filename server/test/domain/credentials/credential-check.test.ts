import { expect, test } from 'vitest';
import { adviseOnCheck } from '../../../src/domain/credentials/checks.ts';
import type { ProviderName } from '../../../src/domain/delivery/providers.ts';

const notKnown = 'Make a new key with the provider and replace this one.';

test.each<[ProviderName, string, RegExp]>([
  ['fcm', 'TOKEN_REFUSED: invalid_grant', /^Google does not know this key/],
  ['fcm', 'PERMISSION_DENIED', /^Turn on the Firebase Cloud Messaging API/],
  ['fcm', 'SERVICE_DISABLED', /^Turn on the Firebase Cloud Messaging API/],
  ['fcm', 'NOT_FOUND', /^There is no such Firebase project/],
  ['fcm', '404', /^There is no such Firebase project/],
  ['fcm', 'THIRD_PARTY_AUTH_ERROR', /^Put the APNs key into the Firebase project/],
  ['apns', 'InvalidProviderToken (403)', /^Apple does not know this key of this team/],
  ['apns', 'BadEnvironmentKeyIdInToken', /^The key is of the other environment/],
  ['apns', 'BadCertificateEnvironment', /^The key is of the other environment/],
  ['apns', 'TopicDisallowed', /^The key does not send to this app/],
  ['apns', 'BadTopic', /^The key does not send to this app/],
  ['apns', 'MissingTopic', /^The key does not send to this app/],
  ['apns', 'UnrelatedKeyIdInToken', /^The key does not send to this app/],
  ['hms', 'HMS_TOKEN_REFUSED', /^Huawei does not know this client/],
  ['hms', '80300002', /^The client may not send/],
  ['hms', 'HMS_403', /^The client may not send/],
  ['hms', 'HMS_404', /^The client may not send/],
  ['webpush', 'not a pair', /^Connect a pair/],
])('advises what to do if %s rejects a credential with %s', (provider, words, advice) => {
  expect(adviseOnCheck({ provider, verdict: 'REFUSED', words })).toMatch(advice);
});

test.each<[ProviderName, string]>([
  ['fcm', 'InvalidProviderToken'],
  ['apns', 'TOKEN_REFUSED'],
  ['fcm', 'HTTP 500 TOKEN_REFUSED'],
  ['hms', '80300003'],
  ['hms', 'HMS_405'],
])('gives the general advice for other answers of %s (%s)', (provider, words) => {
  expect(adviseOnCheck({ provider, verdict: 'REFUSED', words })).toBe(notKnown);
});

test.each<[Parameters<typeof adviseOnCheck>[0], string]>([
  [{ verdict: 'ACCEPTED', provider: 'fcm', words: 'BadDeviceToken' }, 'Nothing to do.'],
  [
    { verdict: 'ACCEPTED', provider: 'webpush', words: 'The two keys are a pair' },
    'Give the public key to your web page; browsers that subscribed with another key stay silent until they subscribe anew.',
  ],
  [
    { verdict: 'UNKNOWN', provider: 'apns', words: 'PROXY_REFUSED' },
    'The provider was not asked. Look at the outgoing proxy and at CARILLON_OUTGOING_PROXY, then check again.',
  ],
  [
    { verdict: 'UNKNOWN', provider: 'apns', words: 'no PROXY_ here' },
    'Look whether this machine reaches the provider (firewall, proxy, DNS), then check again.',
  ],
  [{ verdict: 'REFUSED', provider: 'fcm', words: 'PROXY_REFUSED' }, notKnown],
])('advises for %j', (check, advice) => {
  expect(adviseOnCheck(check)).toBe(advice);
});

import type { ProviderName } from '../delivery/provider-name.ts';

export type FieldScope = 'device' | 'account';

type Described = { scope: FieldScope; answer: string };

/**
 * What real providers answer in operation, and their documentation does not lead to expect, by provider. `scope` is the
 * simulator's truth: a real provider gives the same answer without saying it. Sources: public reports of people who
 * operate senders.
 */
export const fieldAnswers = {
  fcm: {
    limited: {
      scope: 'device',
      answer:
        '429 `QUOTA_EXCEEDED` with a `QuotaFailure` that names the device; for some devices with `Retry-After: 1`',
    },
    'limited-bare': { scope: 'device', answer: '429 `QUOTA_EXCEEDED` that does not say which limit was exceeded' },
    'project-limited': { scope: 'account', answer: '429 `RATE_LIMIT_EXCEEDED` of the project, without an `FcmError`' },
    sporadic: {
      scope: 'device',
      answer: '401 `THIRD_PARTY_AUTH_ERROR`, as a few iPhones get while others are accepted',
    },
    malformed: { scope: 'device', answer: '400 `INVALID_ARGUMENT` without `fieldViolations`, for a malformed token' },
  },
  apns: {
    'wrong-environment': {
      scope: 'account',
      answer: '400 `BadDeviceToken`, as every token gets from a credential of the wrong environment',
    },
    'wrong-topic': {
      scope: 'account',
      answer: '400 `DeviceTokenNotForTopic`, as every token gets from a credential of another bundle id',
    },
  },
  webpush: {
    throttled: { scope: 'device', answer: '406 with `Retry-After: 1` and `X-WNS-Status: dropped`, of Windows' },
    'outdated-key': { scope: 'device', answer: '403, for a subscription that was made with an older VAPID key' },
    'not-found': { scope: 'account', answer: '404 with a page of HTML, of a proxy that knows no push service' },
  },
  hms: {
    limited: { scope: 'device', answer: '200 with the code 80300011, for a device that gets too many messages' },
    'wrong-app': {
      scope: 'account',
      answer: '200 with the code 80300007, as every token gets from the credential of another app',
    },
  },
} as const satisfies Record<ProviderName, Record<string, Described>>;

export type FieldAnswerName<Provider extends ProviderName = ProviderName> = Provider extends ProviderName
  ? keyof (typeof fieldAnswers)[Provider] & string
  : never;

export function isFieldAnswer(provider: ProviderName, name: unknown): name is FieldAnswerName {
  return typeof name === 'string' && Object.hasOwn(fieldAnswers[provider], name);
}

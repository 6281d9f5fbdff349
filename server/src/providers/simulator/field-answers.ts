import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { FieldAnswerName } from '../../domain/sandbox/faults.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { fcmError, googleError } from '../fcm/simulator-rules.ts';
import { hmsAnswer } from '../hms/simulator-rules.ts';
import type { SimulatedAnswer } from './simulator.ts';

export type FieldAnswer = Exclude<SimulatedAnswer, 'silence'>;

/**
 * Returns a response that real providers send in operation, as reported by senders. It is always the same for the same device.
 */
export function fieldAnswer(provider: ProviderName, name: FieldAnswerName, device: string): FieldAnswer {
  switch (name) {
    case 'limited':
      return provider === 'hms' ? limitedByHuawei() : limitedByGoogle(device);
    case 'limited-bare':
      return googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [fcmError('QUOTA_EXCEEDED')]);
    case 'project-limited':
      return limitOfProject();
    case 'sporadic':
      return refusedByApple(device);
    case 'malformed':
      return googleError(400, 'INVALID_ARGUMENT', 'The registration token is not a valid FCM registration token', [
        fcmError('INVALID_ARGUMENT'),
      ]);
    case 'wrong-environment':
      return { status: 400, body: { reason: 'BadDeviceToken' } };
    case 'wrong-topic':
      return { status: 400, body: { reason: 'DeviceTokenNotForTopic' } };
    case 'throttled':
      return {
        status: 406,
        headers: {
          'retry-after': '1',
          'x-wns-status': 'dropped',
          'x-wns-notificationstatus': 'channelThrottled',
        },
      };
    case 'outdated-key':
      return {
        status: 403,
        body: 'the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.',
      };
    case 'not-found':
      return {
        status: 404,
        headers: { 'content-type': 'text/html' },
        body: '<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>',
      };
    case 'wrong-app':
      return hmsAnswer(200, '80300007', 'All tokens are invalid.');
    default:
      return unknownCase(name);
  }
}

/**
 * The subject, its spelling, the full stop and `Retry-After` differ in the field; a device's address determines which it gets.
 */
const subjects = [
  (device: string) => device,
  (device: string) => `device:${device}`,
  (device: string) => `token:${device}`,
];

function limitedByGoogle(device: string): FieldAnswer {
  const form = sumOf(device);
  const violation = {
    subject: subjects[form % 3]!(device),
    description: form % 2 === 0 ? 'Device message rate exceeded' : 'Device message rate exceeded.',
  };
  return {
    ...googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [
      fcmError('QUOTA_EXCEEDED'),
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [violation] },
    ]),
    ...(form % 2 === 0 ? {} : { headers: { 'retry-after': '1' } }),
  };
}

function limitOfProject(): FieldAnswer {
  const message =
    "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service " +
    "'fcm.googleapis.com' for consumer 'project_number:123'.";
  return googleError(429, 'RESOURCE_EXHAUSTED', message, [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'RATE_LIMIT_EXCEEDED',
      domain: 'googleapis.com',
      metadata: {
        quota_metric: 'fcm.googleapis.com/send_requests',
        quota_unit: '1/min/{project}',
        quota_limit: 'SendsPerMinutePerProject',
        consumer: 'projects/123',
        service: 'fcm.googleapis.com',
        quota_location: 'global',
        quota_limit_value: '600000',
      },
    },
    {
      '@type': 'type.googleapis.com/google.rpc.Help',
      links: [
        {
          description: 'Request a higher quota limit.',
          url: 'https://cloud.google.com/docs/quotas/help/request_increase',
        },
      ],
    },
  ]);
}

const appleMessages = [
  'Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid ' +
    'authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
  'Auth error from APNS or Web Push Service',
];

function refusedByApple(device: string): FieldAnswer {
  return googleError(401, 'UNAUTHENTICATED', appleMessages[sumOf(device) % 2]!, [fcmError('THIRD_PARTY_AUTH_ERROR')]);
}

function limitedByHuawei(): FieldAnswer {
  return hmsAnswer(200, '80300011', 'The number of messages sent to the token exceeds the upper limit.');
}

function sumOf(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) sum += text.charCodeAt(index);
  return sum;
}

import type { FieldAnswerName } from '../../domain/sandbox/faults.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import type { GivenAnswer } from '../simulator/simulator.ts';
import { fcmError, googleError } from './simulator-rules.ts';

/** Returns a response that Google sends in operation, as reported by senders. */
export function fcmFieldAnswer(name: FieldAnswerName<'fcm'>, device: string): GivenAnswer {
  switch (name) {
    case 'limited':
      return limitDevice(device);
    case 'limited-bare':
      return googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [fcmError('QUOTA_EXCEEDED')]);
    case 'project-limited':
      return limitProject();
    case 'sporadic':
      return refuseByApple(device);
    case 'malformed':
      return googleError(400, 'INVALID_ARGUMENT', 'The registration token is not a valid FCM registration token', [
        fcmError('INVALID_ARGUMENT'),
      ]);
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

function limitDevice(device: string): GivenAnswer {
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

function limitProject(): GivenAnswer {
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

function refuseByApple(device: string): GivenAnswer {
  return googleError(401, 'UNAUTHENTICATED', appleMessages[sumOf(device) % 2]!, [fcmError('THIRD_PARTY_AUTH_ERROR')]);
}

function sumOf(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) sum += text.charCodeAt(index);
  return sum;
}

import { expect, test } from 'vitest';
import { judgeAnswers } from '../../src/domain/operations/provider-issues.ts';
import type { ProviderAnswers } from '../../src/domain/operations/provider-issues.ts';

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
    ['trouble: FCM (Android) takes no message: 1 message waits for another attempt, FCM answered 503.'],
  ],
  [
    'all of them, for two reasons',
    { waiting: [busy(3, 'TIMEOUT'), busy(1200)] },
    ['trouble: FCM (Android) takes no message: 1,203 messages wait for another attempt, FCM answered 503.'],
  ],
  [
    'a part of them',
    { accepted: 100, waiting: [busy(40)] },
    [
      'attention: FCM (Android) takes only a part of the messages: 40 messages wait for another attempt, FCM answered 503.',
    ],
  ],
  ['a few of many', { accepted: 10_000, waiting: [busy(40)] }, []],
  ['a night', { waiting: [busy(900, 'QUIET_HOURS')] }, []],
  ['a provider that is left alone', { waiting: [busy(900, 'PROVIDER_WAIT')] }, []],
  [
    'nothing but refusals',
    { failures: [rejected(3)] },
    ['trouble: FCM (Android) took none of the last 3 messages, most of them ended with INVALID_ARGUMENT.'],
  ],
  ['two refusals', { failures: [rejected(2)] }, []],
  ['refusals beside accepted messages', { accepted: 1, failures: [rejected(19)] }, []],
  ['devices that are gone', { failures: [rejected(500, 'GONE')] }, []],
])('judges %s', (_name, answers, expected) => {
  const findings = judgeAnswers({ ...none, ...answers });
  expect(findings.map(({ level, what }) => `${level}: ${what}`)).toEqual(expected);
});

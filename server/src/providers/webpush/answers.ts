import type { AnswerRules } from '../answer-rules.ts';

/** What the answers of push services mean (RFC 8030 §5, §7.3; delivery 3, field reports of November 2026). */
export const webPushAnswers = {
  gone: {
    status: '404, 410',
    code: 'any',
    meaning: { about: 'ambiguous', ifDevice: 'drop', ifAccount: 'hold' },
    reason: 'The subscription is gone if the push service accepts others; a proxy may answer 404 for all of them.',
  },
  busy: {
    status: '406, 408, 425, 429',
    code: 'any',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'The push service limits this browser or site; Windows says 406. Other push services are not concerned.',
  },
  foreign: {
    status: '401, 403',
    code: 'any',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'hold' },
    reason:
      'A browser that subscribed with another VAPID key answers this way for ever; a bad contact address of the VAPID key does so for every browser.',
  },
  badRequest: {
    status: '400',
    code: 'any',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'none' },
    reason:
      'Some push services answer this way to another VAPID key; a bad message gets it as well, from every browser.',
  },
  other: {
    status: 'other 4xx',
    code: 'any',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'The message itself is at fault; with `Retry-After` the browser waits.',
  },
} as const satisfies AnswerRules;

import type * as contentOptions from '../content-options.ts';
import type * as delivery from '../delivery.ts';
import type * as eligibility from '../eligibility.ts';
import type * as eventStreams from '../event-streams.ts';
import type * as interactions from '../interactions.ts';
import type * as outbox from '../outbox.ts';
import type * as template from '../template.ts';
import type * as timing from '../timing.ts';
import type { LimitTexts } from './limit-text.ts';

/** Limits of sending: providers, templates, reports, callbacks and emails. */
export const deliveryLimitTexts: {
  delivery: LimitTexts<typeof delivery>;
  template: LimitTexts<typeof template>;
  interactions: LimitTexts<typeof interactions>;
  outbox: LimitTexts<typeof outbox>;
  'event-streams': LimitTexts<typeof eventStreams>;
} = {
  delivery: {
    maxDeliveryAttempts: {
      what: 'Attempts to send to one device',
      unit: 'attempts',
      per: 'message',
      whenReached: 'The delivery ends as `FAILED`.',
      source: 'fault F5',
    },
    fcmMessagesPerMinute: {
      what: 'Messages through FCM',
      unit: 'messages a minute',
      per: 'provider account',
      whenReached: 'Messages wait.',
      source: 'delivery 1',
    },
    noisySiteMessagesPerMinute: {
      what: 'Web messages while a push service judges the site noisy',
      unit: 'messages a minute',
      per: 'provider account',
      whenReached: 'Messages wait.',
      source: 'delivery 3',
    },
  },
  template: {
    maxTemplateSteps: {
      what: 'Steps of rendering a template',
      unit: 'steps',
      per: 'message',
      whenReached: 'The `fallback` is sent, or the delivery fails.',
      source: 'ours',
    },
    maxRenderedCharacters: {
      what: 'Text that a rendering makes at any point',
      unit: 'characters',
      per: 'message',
      whenReached: 'The `fallback` is sent, or the delivery fails.',
      source: 'ours',
    },
    maxBlockDepth: {
      what: 'Blocks within blocks of a template',
      unit: 'levels',
      per: 'message',
      whenReached: 'The template is refused.',
      source: 'ours',
    },
    maxExpressionDepth: {
      what: 'Expressions within expressions of a template',
      unit: 'levels',
      per: 'message',
      whenReached: 'The template is refused.',
      source: 'ours',
    },
  },
  interactions: {
    reportLimits: {
      what: 'Reports of impressions and clicks, of one token and of one source address, and those with an unknown token, of one source address; counted in each process',
      unit: 'reports',
      per: 'source address',
      whenReached: 'INTERACTION_RATE_LIMITED',
      source: 'ours',
    },
    maxReports: {
      what: 'Reports of one kind that count in one run',
      unit: 'reports',
      per: 'device',
      whenReached: 'Further ones are not counted.',
      source: 'ours',
    },
    maxReportBodyBytes: {
      what: 'Body of a report',
      unit: 'bytes',
      per: 'request',
      whenReached: 'BODY_TOO_LARGE',
      source: 'ours',
    },
  },
  outbox: {
    maxAlertEmails: {
      what: 'Addresses that alerts are emailed to',
      unit: 'addresses',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    callbackRetrySeconds: {
      what: 'Waits before the second and every further attempt of a callback',
      unit: 'seconds',
      per: 'message',
      whenReached: 'It is given up, and can be sent again by hand.',
      source: 'decision D27',
    },
    emailRetrySeconds: {
      what: 'Waits before the second and every further attempt of an email',
      unit: 'seconds',
      per: 'message',
      whenReached: 'It has failed, and can be sent again by hand.',
      source: 'ours',
    },
    maxPausedHours: {
      what: 'Time for which a callback or a batch of events is put off because its receiver does not answer',
      unit: 'hours',
      per: 'message',
      whenReached: 'It is given up, and can be sent again by hand.',
      source: 'ours',
    },
  },
  'event-streams': {
    maxEventStreams: {
      what: 'Event streams',
      unit: 'streams',
      per: 'workspace',
      whenReached: 'EVENT_STREAM_LIMITED',
      source: 'ours',
    },
    maxEventsPerBatch: {
      what: 'Events that are posted together',
      unit: 'events',
      per: 'message',
      whenReached: 'There is another batch.',
      source: 'fact 7',
    },
    eventBatchRetrySeconds: {
      what: 'Waits before the second and every further attempt of a batch of events',
      unit: 'seconds',
      per: 'message',
      whenReached: 'It is given up, and can be sent again by hand.',
      source: 'fact 7',
    },
    maxStreamedAttributes: {
      what: 'Attributes of users that an event stream names',
      unit: 'attributes',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
  },
};

/** Limits of a content's `options`. */
export const optionLimitTexts: { 'content-options': LimitTexts<typeof contentOptions> } = {
  'content-options': {
    maxOfferedActions: {
      what: 'Buttons of `options.additionalActions`',
      unit: 'buttons',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxActionNameCharacters: {
      what: 'Characters of the name of such a button in reports',
      unit: 'characters',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxActionTitleCharacters: {
      what: 'Characters of its caption',
      unit: 'characters',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxBadge: {
      what: 'Highest number of a badge',
      unit: 'count',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxBadgeIncrement: {
      what: 'What a message may add to it',
      unit: 'count',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxLocArgs: {
      what: 'Arguments of a text that the app looks up',
      unit: 'texts',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxTimeoutSeconds: {
      what: '`options.timeoutSeconds`: one week',
      unit: 'seconds',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxVibrateSteps: {
      what: 'Steps of `options.vibrate`',
      unit: 'steps',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxVibrateMilliseconds: {
      what: 'Length of such a step',
      unit: 'milliseconds',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxOverrideBytes: {
      what: 'Each object of `payload.providerOverrides`, as JSON',
      unit: 'bytes',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxOverrideDepth: {
      what: 'Objects and lists within each other there',
      unit: 'count',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxLocales: {
      what: 'Languages of `payload.locales`',
      unit: 'languages',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
  },
};

/** Limits of when campaigns are sent and how many messages a user gets. */
export const timingLimitTexts: {
  timing: LimitTexts<typeof timing>;
  eligibility: LimitTexts<typeof eligibility>;
} = {
  timing: {
    lateSendMinutes: {
      what: 'A scheduled send found late is still sent up to',
      unit: 'minutes',
      per: 'campaign',
      whenReached: 'The occurrence is recorded as `MISSED`.',
      source: 'decision D37',
      setting: 'CARILLON_LATE_SEND_MINUTES',
    },
    minOpensOfBestTime: {
      what: 'Opened messages of a user from which a best time is known',
      unit: 'messages',
      per: 'user',
      whenReached: 'With fewer, `if_best_time_is_unknown` says when the user is sent to.',
      source: 'ours',
    },
    bestTimeDays: {
      what: 'Time before a send whose opens tell the best time',
      unit: 'days',
      per: 'user',
      whenReached: 'Older ones are not looked at.',
      source: 'ours',
    },
    maxBestTimeHours: {
      what: 'Longest `window_in_hours` of a campaign at the best time',
      unit: 'hours',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxRepeatAfterDays: {
      what: 'Longest `repeatAfter` of a periodic push',
      unit: 'days',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'decision D36',
    },
  },
  eligibility: {
    maxCaps: {
      what: 'Rules of the frequency cap',
      unit: 'rules',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxCapMessages: {
      what: 'Messages of one rule',
      unit: 'messages',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxCapHours: {
      what: 'Longest rule',
      unit: 'hours',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxLimitedUsers: {
      what: 'Greatest `campaign_audience_limit`',
      unit: 'users',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'fact 6.2',
    },
    maxQueueHours: {
      what: 'Longest `queue_duration` of a campaign',
      unit: 'hours',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'fact 6.2',
    },
    maxDelayMinutes: {
      what: 'Longest delay between messages of different campaigns to one user',
      unit: 'minutes',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
  },
};

import type * as delivery from '../delivery/limits.ts';
import type * as eventStreams from '../event-streams/limits.ts';
import type * as interactions from '../interactions/limits.ts';
import type * as outbox from '../outbox/limits.ts';
import type * as template from '../template/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** Sending: providers, templates, reports, callbacks and emails. */
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

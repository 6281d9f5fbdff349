import type * as eligibility from '../eligibility/limits.ts';
import type * as timing from '../timing/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** When campaigns are sent, and how much a user gets. */
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

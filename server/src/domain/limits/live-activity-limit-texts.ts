import type * as liveActivities from '../live-activities/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** Live Activities of iPhones. */
export const liveActivityLimitTexts: { 'live-activities': LimitTexts<typeof liveActivities> } = {
  'live-activities': {
    maxLivePayloadBytes: {
      what: 'Payload of an event of a Live Activity',
      unit: 'bytes',
      per: 'message',
      whenReached: 'PARAMETER_INVALID',
      source: 'delivery 2',
    },
    maxLiveTokens: {
      what: 'Tokens of a Live Activity',
      unit: 'tokens',
      per: 'live activity',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxLiveTokensPerRequest: {
      what: 'Tokens of a Live Activity, of each kind',
      unit: 'tokens',
      per: 'request',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    liveEventHours: {
      what: 'Time in which an event of a Live Activity is sent',
      unit: 'hours',
      per: 'message',
      whenReached: 'Its outcome is EXPIRED.',
      source: 'ours',
    },
    liveActivityKeptHours: {
      what: 'How long a Live Activity is kept after its newest event or token',
      unit: 'hours',
      per: 'live activity',
      whenReached: 'It is removed with its tokens and events.',
      source: 'ours',
    },
  },
};

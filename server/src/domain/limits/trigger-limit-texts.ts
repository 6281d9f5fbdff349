import type * as triggers from '../triggers/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** Campaigns that events of users start. */
export const triggerLimitTexts: { triggers: LimitTexts<typeof triggers> } = {
  triggers: {
    maxTriggerDelayDays: {
      what: 'Longest `trigger_delay_value`',
      unit: 'days',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxTriggerAheadDays: {
      what: 'How far ahead the time of a `trigger_attr` may lie',
      unit: 'days',
      per: 'value',
      whenReached: 'The trigger is dropped as `TOO_FAR`.',
      source: 'ours',
    },
    maxTriggerFilters: {
      what: 'Filters of `included_filters`, and of `secondary_included_filters`',
      unit: 'filters',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxTriggerCount: {
      what: 'How often an event may be asked for in `secondary_included_filters`',
      unit: 'events',
      per: 'value',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
  },
};

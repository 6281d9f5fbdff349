import type * as businessEvents from '../business-events.ts';
import type * as campaigns from '../campaigns.ts';
import type * as experiments from '../experiments.ts';
import type * as liveActivities from '../live-activities.ts';
import type * as push from '../push.ts';
import type * as triggers from '../triggers.ts';
import type { LimitTexts } from './limit-text.ts';

/** Limits of pushes and campaigns: accepting and scheduling. */
export const campaignLimitTexts: {
  push: LimitTexts<typeof push>;
  campaigns: LimitTexts<typeof campaigns>;
  'business-events': LimitTexts<typeof businessEvents>;
} = {
  push: {
    pushRequestsPerMinute: {
      what: 'Push requests with a verified signature, v2 and v2.1 together',
      unit: 'requests a minute',
      per: 'workspace',
      whenReached: 'PUSH_RATE_LIMITED',
      source: 'interface 8',
    },
    unverifiedPushesPerMinute: {
      what: 'Push requests without a verified signature; counted in each process',
      unit: 'requests a minute',
      per: 'source address',
      whenReached: 'PUSH_RATE_LIMITED',
      source: 'decision D31',
    },
    maxSelectedUsers: {
      what: 'Users whom a push to audience `User` matches',
      unit: 'users',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'interface 8',
    },
    maxSelectorValues: {
      what: 'Values of `targetUserAttributes`',
      unit: 'values',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'fact 3.2',
    },
    minPushNameCharacters: {
      what: 'Shortest `campaignName`',
      unit: 'characters',
      per: 'request',
      whenReached: 'PUSH_NAME_TOO_SHORT',
      source: 'interface 8',
    },
    maxPushBodyBytes: {
      what: 'Body of a push',
      unit: 'bytes',
      per: 'request',
      whenReached: 'BODY_TOO_LARGE',
      source: 'ours',
    },
    maxPushTags: {
      what: 'Tags of a push',
      unit: 'tags',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxRichItems: {
      what: 'Cards of a rich notification',
      unit: 'cards',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxGroupKeyCharacters: {
      what: 'Characters of `groupKey`',
      unit: 'characters',
      per: 'request',
      whenReached: 'The rest is cut off.',
      source: 'fact 3.3',
    },
    maxInboxExpiryHours: {
      what: 'Longest `inboxExpiry`',
      unit: 'hours',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'ours',
    },
    maxSpreadMinutes: {
      what: 'Longest `campaignThrottleTime`',
      unit: 'minutes',
      per: 'request',
      whenReached: 'PUSH_PARAMETER_INVALID',
      source: 'fact 3.4',
    },
    signatureToleranceSeconds: {
      what: 'Difference between the time of a v2 signature and the clock',
      unit: 'seconds',
      per: 'request',
      whenReached: 'PUSH_SIGNATURE_INVALID',
      source: 'decision D35a',
    },
  },
  campaigns: {
    campaignCallsPerMinute: {
      what: 'Calls of V1 and V5 together, as the headers count them',
      unit: 'requests a minute',
      per: 'workspace',
      whenReached: 'CAMPAIGN_RATE_LIMITED',
      source: 'decision D44',
    },
    campaignCallWindows: {
      what: 'Calls of V1 and V5 together',
      unit: 'requests',
      per: 'workspace',
      whenReached: 'CAMPAIGN_RATE_LIMITED',
      source: 'decision D44',
    },
    campaignCreationWindows: {
      what: 'Campaigns made through the API',
      unit: 'campaigns',
      per: 'workspace',
      whenReached: 'CAMPAIGN_CREATION_LIMITED',
      source: 'fact 6.1',
    },
    campaignRequestIdHours: {
      what: 'A `request_id` of V1 cannot be used again for',
      unit: 'hours',
      per: 'workspace',
      whenReached: 'CAMPAIGN_REQUEST_REPEATED',
      source: 'fact 6.1',
    },
    campaignRequestIdKeptHours: {
      what: 'A used `request_id` is stored for',
      unit: 'hours',
      per: 'workspace',
      whenReached: 'It is deleted.',
      source: 'ours',
    },
    maxCampaignsPerPage: {
      what: 'Campaigns in a page of a search',
      unit: 'campaigns',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'interface 8',
    },
    maxActedCampaigns: {
      what: 'Campaigns whose status one request changes',
      unit: 'campaigns',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'fact 6.1',
    },
    maxTestIdentifiers: {
      what: 'Users to whom one request sends a test',
      unit: 'users',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'fact 6.1',
    },
    maxCampaignVersions: {
      what: 'Versions of a campaign',
      unit: 'versions',
      per: 'campaign',
      whenReached: 'CAMPAIGN_NOT_EDITABLE',
      source: 'fact 6.3',
    },
    maxCampaignNameCharacters: {
      what: 'Longest name of a campaign',
      unit: 'characters',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxCampaignTemplates: {
      what: 'Templates of campaigns',
      unit: 'templates',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxCampaignTags: {
      what: 'Tags of a campaign of V1 or V5',
      unit: 'tags',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxConversionGoals: {
      what: 'Conversion goals',
      unit: 'goals',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'fact 3.1',
    },
    conversionWindowHours: {
      what: 'Events count as conversions after a message for',
      unit: 'hours',
      per: 'message',
      whenReached: 'Later events are not counted; attribution_window_in_hours changes it.',
      source: 'fact 6.2',
    },
    maxConversionWindowHours: {
      what: 'The same that a campaign asks for, at most',
      unit: 'hours',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    sessionIdleMinutes: {
      what: 'The session of a click ends when its user has done nothing for',
      unit: 'minutes',
      per: 'message',
      whenReached: 'Later events are not counted as IN_SESSION.',
      source: 'ours',
    },
    conversionSettleSeconds: {
      what: 'An event is counted as a conversion after',
      unit: 'seconds',
      per: 'request',
      whenReached: 'By then what was being sent is in the ledger.',
      source: 'ours',
    },
    sandboxConversionSettleSeconds: {
      what: 'The same in a sandbox',
      unit: 'seconds',
      per: 'request',
      whenReached: 'By then what was being sent is in the ledger.',
      source: 'ours',
    },
    maxOccurrences: {
      what: 'Sends of a periodic campaign that ends after a number of them',
      unit: 'sends',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    defaultTtlMinutes: {
      what: 'A provider keeps a message for a device out of reach, unless the campaign says otherwise',
      unit: 'minutes',
      per: 'message',
      whenReached: 'The provider drops it.',
      source: 'fact 3.4',
    },
    maxTtlMinutes: {
      what: 'Longest time to live that a campaign may ask for',
      unit: 'minutes',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'fact 3.4',
    },
    maxDevicesPerMinute: {
      what: 'Fastest throttle that a campaign may ask for',
      unit: 'devices a minute',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxNamedApps: {
      what: 'Apps that a campaign names',
      unit: 'apps',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
  },
  'business-events': {
    triggerWindows: {
      what: 'Campaigns that business events start',
      unit: 'campaigns',
      per: 'workspace',
      whenReached: 'BUSINESS_EVENT_RATE_LIMITED',
      source: 'fact 6.3',
    },
    maxBusinessEvents: {
      what: 'Business events',
      unit: 'events',
      per: 'workspace',
      whenReached: 'BUSINESS_EVENT_LIMITED',
      source: 'fact 6.3',
    },
    maxBusinessAttributes: {
      what: 'Attributes of a business event',
      unit: 'attributes',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxBusinessNameCharacters: {
      what: 'Longest name of a business event or of its attribute',
      unit: 'characters',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
    maxBusinessEventsPerPage: {
      what: 'Business events in a page of the list',
      unit: 'events',
      per: 'request',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'fact 6.3',
    },
  },
};

/** Limits of experiments: control groups and variations. */
export const experimentLimitTexts: { experiments: LimitTexts<typeof experiments> } = {
  experiments: {
    maxGlobalControlPercent: {
      what: 'Users of the control group of a workspace',
      unit: 'percent',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
    maxLearnedRuns: {
      what: 'Newest runs that variations are learned from',
      unit: 'runs',
      per: 'campaign',
      whenReached: 'Older ones are not looked at.',
      source: 'ours',
    },
    maxVariations: {
      what: 'Variations',
      unit: 'variations',
      per: 'campaign',
      whenReached: 'CAMPAIGN_REQUEST_INVALID',
      source: 'ours',
    },
  },
};

/** Limits of campaigns that user events start. */
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

/** Limits of Live Activities of iPhones. */
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

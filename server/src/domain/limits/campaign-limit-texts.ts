import type * as businessEvents from '../business-events/limits.ts';
import type * as campaigns from '../campaigns/limits.ts';
import type * as eligibility from '../eligibility/limits.ts';
import type * as push from '../push/limits.ts';
import type * as timing from '../timing/limits.ts';
import type { LimitTexts } from './limit-text.ts';

/** Pushes and campaigns: accepting and scheduling. */
export const campaignLimitTexts: {
  push: LimitTexts<typeof push>;
  campaigns: LimitTexts<typeof campaigns>;
  'business-events': LimitTexts<typeof businessEvents>;
  timing: LimitTexts<typeof timing>;
  eligibility: LimitTexts<typeof eligibility>;
} = {
  push: {
    pushRequestsPerMinute: {
      what: 'Push requests, v2 and v2.1 together',
      unit: 'requests a minute',
      per: 'workspace',
      whenReached: 'PUSH_RATE_LIMITED',
      source: 'interface 8',
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
      whenReached: 'Later events are not counted.',
      source: 'fact 6.2',
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
  timing: {
    lateSendMinutes: {
      what: 'A scheduled send found late is still sent up to',
      unit: 'minutes',
      per: 'campaign',
      whenReached: 'The occurrence is recorded as `MISSED`.',
      source: 'decision D37',
      setting: 'CARILLON_LATE_SEND_MINUTES',
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
    maxDelayMinutes: {
      what: 'Longest delay between messages of different campaigns to one user',
      unit: 'minutes',
      per: 'workspace',
      whenReached: 'PARAMETER_INVALID',
      source: 'ours',
    },
  },
};

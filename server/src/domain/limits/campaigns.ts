import type { LimitWindow } from '../access/rate-limits.ts';

// Campaigns

/**
 * Calls of V1 and V5 together, as the rate limit headers report them (decision D44).
 * Unit: requests a minute per workspace. Exceeded: CAMPAIGN_RATE_LIMITED.
 */
export const campaignCallsPerMinute = 100;

/**
 * Calls of V1 and V5 together (decision D44).
 * Unit: requests per workspace. Exceeded: CAMPAIGN_RATE_LIMITED.
 * The documented third limit, 6,000 an hour, needs no separate window: an hour is sixty minutes, and each allows at
 * most 100.
 */
export const campaignCallWindows: readonly LimitWindow[] = [
  { events: 10, seconds: 1 },
  { events: campaignCallsPerMinute, seconds: 60 },
];

/**
 * Campaigns created through the API (fact 6.1, 6.3).
 * Unit: campaigns per workspace. Exceeded: CAMPAIGN_CREATION_LIMITED.
 * A rejected request does not count.
 */
export const campaignCreationWindows: readonly LimitWindow[] = [
  { events: 5, seconds: 60 },
  { events: 25, seconds: 3_600 },
  { events: 100, seconds: 86_400 },
];

/**
 * Time for which a `request_id` of V1 cannot be used again (fact 6.1).
 * Unit: hours per request id. Exceeded: It can be used again; until then, the error is `CAMPAIGN_REQUEST_REPEATED`.
 */
export const campaignRequestIdHours = 1;

/** Retention of a used `request_id`. Unit: hours per request id. Exceeded: It is deleted. */
export const campaignRequestIdKeptHours = 24;

/**
 * Campaigns in a page of a search (interface 8, decision D41).
 * Unit: campaigns per request. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxCampaignsPerPage = { V1: 100, V5: 15 } as const;

/**
 * Campaigns whose status one request changes (fact 6.1).
 * Unit: campaigns per request. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxActedCampaigns = 10;

/** Users to whom one request sends a test (fact 6.1). Unit: users per request. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxTestIdentifiers = 10;
/** Versions of a campaign (fact 6.3). Unit: versions per campaign. Exceeded: CAMPAIGN_NOT_EDITABLE. */
export const maxCampaignVersions = 15;

/**
 * Longest name of a campaign.
 * Unit: characters per name. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * The table has the same limit.
 */
export const maxCampaignNameCharacters = 256;

/** Templates of campaigns. Unit: templates per workspace. Exceeded: PARAMETER_INVALID. */
export const maxCampaignTemplates = 200;
/** Tags of a campaign of V1 or V5. Unit: tags per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxCampaignTags = 100;
/** Conversion goals of a campaign (fact 3.1). Unit: goals per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxConversionGoals = 5;

/**
 * Time after a message in which events count as its conversions, unless `attribution_window_in_hours` sets another
 * (fact 6.2).
 * Unit: hours per message. Exceeded: Later events are not counted.
 */
export const conversionWindowHours = 36;

/**
 * Longest `attribution_window_in_hours`.
 * Unit: hours per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * This and the time to live of a message before it are together shorter than the minimum retention of the ledger.
 */
export const maxConversionWindowHours = 144;

/**
 * Idle time of a user that ends the session of a click.
 * Unit: minutes per click. Exceeded: Later events are not counted as `IN_SESSION`.
 */
export const sessionIdleMinutes = 30;

/**
 * Delay after which an event is attributed to messages.
 * Unit: seconds per event. Exceeded: The event is attributed.
 * A window stores its deliveries with the time just before its transaction, and only committed rows are visible. This
 * is twice the maximum time that the database allows a transaction to be idle (`idle_in_transaction_session_timeout`,
 * 60 s).
 */
export const conversionSettleSeconds = 120;

/**
 * Delay after which an event is attributed to messages in a sandbox.
 * Unit: seconds per event. Exceeded: The event is attributed.
 * Small windows are stored within milliseconds, and a user watches the screen.
 */
export const sandboxConversionSettleSeconds = 1;

/**
 * Sends of a periodic campaign with a limited number of sends.
 * Unit: sends per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxOccurrences = 1_000;

/**
 * Time for which a provider may keep a message for a device it cannot reach, unless the campaign sets another (fact
 * 3.4).
 * Unit: minutes per message. Exceeded: The provider drops the message.
 */
export const defaultTtlMinutes = 2_160;

/**
 * Longest time to live that a campaign may set: a week (fact 3.4).
 * Unit: minutes per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxTtlMinutes = 10_080;

/**
 * Fastest throttle that a campaign may set.
 * Unit: devices a minute per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 */
export const maxDevicesPerMinute = 10_000_000;

/** Apps to which a campaign is restricted. Unit: apps per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID. */
export const maxNamedApps = 20;

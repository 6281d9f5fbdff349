import type { LimitWindow } from '../access/rate-limits.ts';

/**
 * Calls of V1 and V5 together, of a workspace (decision D44). The documented third limit, 6,000 an hour, needs no window
 * of its own: an hour is sixty minutes, and each holds at most 100.
 */
export const campaignCallsPerMinute = 100;
export const campaignCallWindows: readonly LimitWindow[] = [
  { events: 10, seconds: 1 },
  { events: campaignCallsPerMinute, seconds: 60 },
];

/** Campaigns that were made through the API; a refused request does not count (fact 6.1, 6.3). */
export const campaignCreationWindows: readonly LimitWindow[] = [
  { events: 5, seconds: 60 },
  { events: 25, seconds: 3_600 },
  { events: 100, seconds: 86_400 },
];

/** For so long a `request_id` of V1 cannot be used again (fact 6.1). */
export const campaignRequestIdHours = 1;
/** After this, rows of used request ids may be deleted. */
export const campaignRequestIdKeptHours = 24;

/** Campaigns in a page of a search (interface 8, decision D41). */
export const maxCampaignsPerPage = { V1: 100, V5: 15 } as const;
/** Campaigns whose status one request changes (fact 6.1). */
export const maxActedCampaigns = 10;
/** Users to whom one request sends a test (fact 6.1). */
export const maxTestIdentifiers = 10;
/** Versions of a campaign (fact 6.3). */
export const maxCampaignVersions = 15;

/** Ours, as the table has it. */
export const maxCampaignNameCharacters = 256;
/** Ours. */
export const maxCampaignTemplates = 200;
/** Ours. */
export const maxCampaignTags = 100;
/** Goals of a campaign (fact 3.1). */
export const maxConversionGoals = 5;
/** Events after a message that count as its conversions, unless the campaign says otherwise (fact 6.2). */
export const conversionWindowHours = 36;
/** With the life of a message before it less than a ledger is kept at least. Ours. */
export const maxConversionWindowHours = 144;
/** A click begins a session, which ends when its user has done nothing for so long. Ours. */
export const sessionIdleMinutes = 30;
/**
 * An event waits this long before it is looked at: a window stores its deliveries with the instant just before its
 * transaction, and only committed rows can be found. Twice the maximum time the database allows a transaction to be
 * idle (`idle_in_transaction_session_timeout`, 60 s).
 */
export const conversionSettleSeconds = 120;
/** The same in a sandbox, whose small windows are stored within milliseconds, and where somebody looks at the screen. */
export const sandboxConversionSettleSeconds = 1;
/** Sends of a periodic campaign that ends after a number of them. Ours. */
export const maxOccurrences = 1_000;

/** How long a provider may keep a message for a device it cannot reach, unless the campaign says otherwise (fact 3.4). */
export const defaultTtlMinutes = 2_160;
/** A week (fact 3.4). */
export const maxTtlMinutes = 10_080;
/** A campaign's own throttle. Ours. */
export const maxDevicesPerMinute = 10_000_000;
/** Apps that a campaign names to reach their devices alone. Ours. */
export const maxNamedApps = 20;
